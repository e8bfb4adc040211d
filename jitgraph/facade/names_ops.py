"""The public names of what stands in `jitgraph/ops`: more of the table in `jitgraph/facade/names.py`."""

from __future__ import annotations

OPS: dict[str, str] = {
    "ops.arrays.constant": "constant",
    "ops.elementwise.sums": "add_n accumulate_n math.add_n math.accumulate_n",
    "ops.elementwise.arithmetic": """
        add subtract multiply scalar_mul divide div truediv realdiv floordiv floor_div div_no_nan mod floormod
        truncatediv truncatemod pow abs squared_difference maximum minimum
        math.add math.subtract math.multiply math.scalar_mul math.divide math.truediv math.floordiv
        math.floormod math.mod math.pow math.abs math.squared_difference
        math.maximum math.minimum math.divide_no_nan=div_no_nan
        math.multiply_no_nan math.reciprocal_no_nan""",
    "ops.elementwise.cast": """
        cast bitcast to_float to_double to_int32 to_int64 to_bfloat16 to_complex64 to_complex128
        dtypes.cast""",
    "ops.elementwise.saturate": "saturate_cast dtypes.saturate_cast",
    "ops.elementwise.compare": """
        equal not_equal less less_equal greater greater_equal logical_and logical_or logical_not logical_xor
        math.equal math.not_equal math.less math.less_equal math.greater math.greater_equal math.logical_and
        math.logical_or math.logical_not math.logical_xor bitwise.bitwise_and bitwise.bitwise_or
        bitwise.bitwise_xor bitwise.invert bitwise.left_shift bitwise.right_shift""",
    "ops.elementwise.complex_numbers": "real imag conj angle complex math.real math.imag math.conj math.angle",
    "ops.elementwise.elementary": """
        rsqrt reciprocal exp expm1 log log1p sin cos tan asin acos atan atan2 sinh cosh asinh acosh
        atanh sigmoid log_sigmoid floor ceil rint round is_nan is_inf is_finite math.rsqrt
        math.reciprocal math.exp math.expm1 math.log math.log1p math.sin math.cos math.tan math.asin math.acos
        math.atan math.atan2 math.sinh math.cosh math.asinh math.acosh math.atanh math.sigmoid
        math.log_sigmoid math.floor math.ceil math.rint math.round math.is_nan math.is_inf math.is_finite
        nn.sigmoid nn.log_sigmoid debugging.is_nan debugging.is_inf debugging.is_finite""",
    "ops.linalg.matmul": "matmul linalg.matmul sparse_matmul",
    "ops.reduce.reductions": """
        reduce_sum reduce_mean reduce_prod reduce_max reduce_min reduce_all reduce_any reduce_logsumexp
        count_nonzero argmax argmin arg_max arg_min math.reduce_sum math.reduce_mean math.reduce_prod
        math.reduce_max math.reduce_min math.reduce_all math.reduce_any math.reduce_logsumexp math.count_nonzero
        math.argmax math.argmin math.reduce_std math.reduce_variance math.reduce_euclidean_norm""",
    "ops.arrays.identity": """
        identity identity_n stop_gradient placeholder placeholder_with_default ensure_shape guarantee_const
        is_tensor sparse_placeholder sparse.placeholder=sparse_placeholder debugging.is_tensor
        contrib.framework.is_tensor""",
    "ops.arrays.shape": "shape shape_n size rank reshape expand_dims squeeze manip.reshape",
    "ops.arrays.fill": "fill zeros ones zeros_like ones_like one_hot",
    "ops.arrays.join": "stack unstack concat split parallel_stack",
    "ops.arrays.slicing": "newaxis slice strided_slice",
    "ops.arrays.gather": "gather scatter_nd manip.scatter_nd",
    "ops.arrays.layout": """
        transpose reverse reverse_v2=reverse reverse_sequence tile broadcast_to broadcast_dynamic_shape
        broadcast_static_shape invert_permutation math.invert_permutation manip.reverse manip.tile""",
    "ops.arrays.pad": "pad",
    "ops.arrays.searching": "where where_v2 boolean_mask unique unique_with_counts setdiff1d",
    "ops.arrays.partition": "dynamic_partition dynamic_stitch",
    "ops.reduce.segment": """
        segment_sum segment_mean segment_prod segment_max segment_min unsorted_segment_sum unsorted_segment_mean
        unsorted_segment_prod unsorted_segment_max unsorted_segment_min unsorted_segment_sqrt_n math.segment_sum
        math.segment_mean math.segment_prod math.segment_max math.segment_min math.unsorted_segment_sum
        math.unsorted_segment_mean math.unsorted_segment_prod math.unsorted_segment_max
        math.unsorted_segment_min math.unsorted_segment_sqrt_n""",
    "ops.arrays.top_k": "nn.top_k nn.in_top_k math.top_k math.in_top_k",
    "ops.elementwise.activation": """
        nn.relu nn.relu6 nn.elu nn.selu nn.leaky_relu nn.softplus nn.softsign nn.crelu nn.swish math.softplus
        math.softsign""",
    "ops.nn.softmax": """
        nn.softmax nn.log_softmax math.softmax math.log_softmax nn.softmax_cross_entropy_with_logits
        nn.softmax_cross_entropy_with_logits_v2 nn.sparse_softmax_cross_entropy_with_logits""",
    "ops.elementwise.bias": "nn.bias_add nn.xw_plus_b nn.relu_layer",
    "ops.random.draws": """
        random_normal random_uniform truncated_normal random_shuffle random_crop multinomial
        random.normal=random_normal random.uniform=random_uniform random.truncated_normal
        random.shuffle=random_shuffle random.multinomial random.categorical image.random_crop""",
    "ops.host.clock": "timestamp",
    "ops.nn.dimension_free": "nn.max_pool_v2 nn.avg_pool_v2 nn.conv_transpose nn.pool",
    "ops.nn.interleaved": "nn.with_space_to_batch",
    "ops.nn.safe_embedding": """
        nn.safe_embedding_lookup_sparse nn.scale_regularization_loss nn.compute_average_loss""",
    "ops.signal.audio": "audio.decode_wav audio.encode_wav",
    "ops.arrays.sequences": "range linspace lin_space cumsum cumprod math.cumsum math.cumprod math.cumulative_logsumexp",
    "ops.elementwise.clip": "clip_by_value clip_by_norm clip_by_global_norm clip_by_average_norm global_norm nn.l2_loss",
    "ops.host.kernel_function": "kernel_func",
    "ops.elementwise.composite_values": """
        negative sign square sqrt tanh erf math.negative math.sign math.square math.sqrt math.tanh math.erf
        math.bessel_i0e math.bessel_i1e nn.tanh""",
    "ops.elementwise.special": """
        erfc lgamma digamma polygamma zeta betainc igamma igammac lbeta check_numerics math.erfc
        math.lgamma math.digamma math.polygamma math.zeta math.betainc math.igamma math.igammac math.lbeta
        math.xlogy math.xdivy math.bessel_i0 math.bessel_i1 math.nextafter
        debugging.check_numerics""",
    "ops.linalg.products": """
        tensordot cross trace norm linalg.tensordot linalg.cross linalg.trace linalg.norm math.polyval
        linalg.normalize""",
    "ops.arrays.counts": """
        bincount histogram_fixed_width confusion_matrix math.bincount math.confusion_matrix
        histogram_fixed_width_bins""",
    "ops.arrays.grids": "sequence_mask meshgrid",
    "ops.arrays.batch_gather": "batch_gather gather_nd manip.gather_nd",
    "ops.nn.embedding": "nn.embedding_lookup",
    "ops.arrays.matrix_parts": """
        eye diag diag_part matrix_diag matrix_diag_part matrix_set_diag matrix_band_part matrix_transpose linalg.eye
        linalg.diag=matrix_diag linalg.diag_part=matrix_diag_part linalg.set_diag=matrix_set_diag
        linalg.band_part=matrix_band_part linalg.transpose=matrix_transpose linalg.matrix_transpose
        linalg.tensor_diag=diag linalg.tensor_diag_part=diag_part""",
    "ops.nn.functions": """
        nn.sigmoid_cross_entropy_with_logits nn.weighted_cross_entropy_with_logits nn.log_poisson_loss
        nn.l2_normalize linalg.l2_normalize math.l2_normalize nn.zero_fraction math.zero_fraction nn.dropout
        nn.moments nn.sufficient_statistics nn.normalize_moments nn.weighted_moments nn.batch_normalization""",
    "ops.host.python_function": "py_func numpy_function py_function",
    "ops.choices.cases": "case contrib.framework.smart_case",
    "ops.nn.convolution_functions": """
        nn.conv2d nn.conv2d_backprop_input nn.conv2d_backprop_filter nn.conv2d_transpose nn.atrous_conv2d
        nn.atrous_conv2d_transpose nn.conv1d nn.conv1d_transpose nn.conv3d nn.conv3d_transpose nn.convolution
        nn.depthwise_conv2d nn.depthwise_conv2d_native nn.separable_conv2d""",
    "ops.nn.pooling_functions": """
        nn.max_pool nn.avg_pool nn.max_pool2d nn.avg_pool2d=avg_pool nn.max_pool3d nn.avg_pool3d
        nn.max_pool1d nn.avg_pool1d nn.max_pool_with_argmax nn.lrn nn.local_response_normalization=lrn""",
    "ops.checks.printing": "Print print=print_ strings.format=string_format",
    "ops.checks.assertion": """
        Assert debugging.Assert verify_tensor_all_finite debugging.assert_all_finite=verify_tensor_all_finite
        add_check_numerics_ops""",
    "ops.checks.check_values": """
        assert_less assert_less_equal assert_greater assert_greater_equal assert_none_equal assert_equal
        assert_positive assert_negative assert_non_negative assert_non_positive assert_near is_non_decreasing
        is_strictly_increasing debugging.assert_less debugging.assert_less_equal debugging.assert_greater
        debugging.assert_greater_equal debugging.assert_none_equal debugging.assert_equal
        debugging.assert_positive debugging.assert_negative debugging.assert_non_negative
        debugging.assert_non_positive debugging.assert_near debugging.is_non_decreasing
        debugging.is_strictly_increasing math.is_non_decreasing math.is_strictly_increasing""",
    "ops.checks.check_shapes": """
        assert_type assert_integer is_numeric_tensor assert_same_float_dtype assert_proper_iterable
        assert_rank assert_rank_at_least assert_rank_in assert_scalar debugging.assert_type
        debugging.assert_integer debugging.is_numeric_tensor debugging.assert_same_float_dtype
        debugging.assert_proper_iterable debugging.assert_rank debugging.assert_rank_at_least
        debugging.assert_rank_in debugging.assert_scalar debugging.assert_shapes""",
    "ops.nn.batch_norm": "nn.fused_batch_norm nn.batch_norm_with_global_normalization",
    "ops.arrays.space": """
        space_to_depth depth_to_space space_to_batch batch_to_space space_to_batch_nd batch_to_space_nd
        required_space_to_batch_paddings nn.space_to_depth nn.depth_to_space nn.space_to_batch
        manip.batch_to_space_nd manip.space_to_batch_nd""",
    "ops.arrays.rearrange": """
        roll manip.roll sort argsort searchsorted repeat unravel_index tensor_scatter_update tensor_scatter_add
        tensor_scatter_sub tensor_scatter_nd_update=tensor_scatter_update tensor_scatter_nd_add=tensor_scatter_add
        tensor_scatter_nd_sub=tensor_scatter_sub contrib.framework.sort contrib.framework.argsort""",
    "ops.random.random_rejection": "random_gamma random_poisson random.gamma=random_gamma random.poisson=random_poisson",
    "ops.random.random_stateless": """
        random.stateless_uniform=stateless_random_uniform random.stateless_normal=stateless_random_normal
        random.stateless_truncated_normal random.stateless_multinomial random.stateless_categorical
        contrib.stateless.stateless_random_uniform contrib.stateless.stateless_random_normal
        contrib.stateless.stateless_truncated_normal contrib.stateless.stateless_multinomial""",
    "ops.nn.candidates": """
        nn.uniform_candidate_sampler nn.log_uniform_candidate_sampler nn.fixed_unigram_candidate_sampler
        nn.learned_unigram_candidate_sampler nn.all_candidate_sampler nn.compute_accidental_hits random.uniform_candidate_sampler
        random.log_uniform_candidate_sampler random.fixed_unigram_candidate_sampler random.all_candidate_sampler""",
    "ops.nn.sampled_loss": "nn.nce_loss nn.sampled_softmax_loss",
    "ops.reduce.sparse_segment": """
        sparse_segment_sum sparse_segment_mean sparse_segment_sqrt_n sparse.segment_sum=sparse_segment_sum
        sparse.segment_mean=sparse_segment_mean sparse.segment_sqrt_n=sparse_segment_sqrt_n""",
    "ops.nn.patches": "extract_image_patches image.extract_image_patches nn.dilation2d nn.erosion2d",
    "ops.nn.sparse_embedding": "nn.embedding_lookup_sparse",
    "ops.nn.convolution_ops": """
        nn.depthwise_conv2d_native_backprop_input=depthwise_backprop_input
        nn.depthwise_conv2d_native_backprop_filter=depthwise_backprop_filter
        nn.depthwise_conv2d_backprop_input=depthwise_backprop_input
        nn.depthwise_conv2d_backprop_filter=depthwise_backprop_filter nn.conv3d_backprop_filter
        nn.conv3d_backprop_filter_v2=conv3d_backprop_filter""",
    "ops.files.file": "read_file write_file matching_files io.read_file io.write_file io.matching_files",
    "ops.strings.string_hash": "string_to_hash_bucket string_to_hash_bucket_fast string_to_hash_bucket_strong fingerprint",
    "ops.strings.strings": """
        as_string string_to_number substr strings.substr strings.length=string_length
        strings.lower=string_lower strings.upper=string_upper string_strip encode_base64 decode_base64""",
    "ops.strings.regex": "regex_replace strings.regex_full_match",
    "ops.strings.string_split": """
        string_join reduce_join strings.unsorted_segment_join""",
    "ops.strings.decode": "decode_raw decode_compressed parse_tensor serialize_tensor decode_csv",
    "ops.files.parsing": """
        VarLenFeature FixedLenFeature FixedLenSequenceFeature SparseFeature parse_example parse_single_example
        parse_single_sequence_example io.parse_sequence_example""",
    "ops.files.example": "decode_json_example",
    "ops.strings.unicode_script": "strings.unicode_script",
    "ops.strings.unicode": "strings.unicode_transcode",
    "ops.sparse.sparse_strings": "serialize_sparse serialize_many_sparse deserialize_many_sparse",
}
