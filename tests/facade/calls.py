"""Calls of public functions, each a program of its own whose nodes are compared with TensorFlow 1.15's.

What is compared are names and types of nodes in the order in which they are made: their number decides the default seeds
of random ops.  data/tf115_calls.json is written under TensorFlow 1.15 by
``python tests/facade/calls.py > tests/facade/data/tf115_calls.json``.
"""
import json

CALLS = {
    "elementwise": """
        tf.abs(x); tf.abs(z); tf.negative(x); tf.sign(x); tf.square(x); tf.sqrt(x); tf.rsqrt(x); tf.round(x); tf.exp(x)
        tf.add(x, 1); tf.subtract(x, x); tf.multiply(2.0, x); tf.div(x, 2.0); tf.divide(x, 2); tf.truediv(i, 2)
        tf.floordiv(i, 2); tf.floormod(x, 2.0); tf.mod(i, 3); tf.pow(x, 2); tf.maximum(x, 0.0); tf.minimum(x, x)
        tf.scalar_mul(2.0, x); tf.squared_difference(x, 1.0); tf.div_no_nan(x, x); tf.realdiv(x, x); tf.truncatediv(i, i)
        tf.add_n([x, x]); tf.accumulate_n([x, x]); tf.sigmoid(x); tf.log_sigmoid(x); tf.tanh(x); tf.erf(x); tf.lgamma(x)
        tf.betainc(x, x, x); tf.igamma(x, x); tf.polygamma(x, x); tf.zeta(x, x); tf.lbeta(x); tf.atan2(x, x)
        tf.math.xlogy(x, x); tf.math.bessel_i0(x); tf.math.bessel_i1e(x); tf.math.reciprocal_no_nan(x); tf.complex(x, x)
        tf.real(z); tf.imag(z); tf.conj(z); tf.conj(x); tf.angle(z); tf.cast(x, tf.int32); tf.cast(x, tf.float32)
        tf.saturate_cast(x, tf.uint8); tf.bitcast(x, tf.int32); tf.to_float(i); tf.to_int64(x); tf.equal(x, 1.0)
        tf.logical_and(b, b); tf.logical_xor(b, b); tf.logical_not(b); tf.is_nan(x); tf.greater(x, 0); tf.less_equal(i, 2)
        tf.clip_by_value(x, 0.0, 1.0); tf.clip_by_norm(x, 1.0); tf.clip_by_average_norm(x, 1.0); tf.global_norm([x, m])
        tf.clip_by_global_norm([x, m], 1.0); tf.bitwise.bitwise_and(i, i); tf.bitwise.invert(i); tf.math.softplus(x)
        tf.check_numerics(x, "bad"); tf.math.nextafter(x, x); tf.where(b, x, x); tf.where(b); tf.math.erfc(x); tf.nn.relu(x)
        tf.nn.relu6(x); tf.nn.elu(x); tf.nn.crelu(x); tf.nn.selu(x); tf.nn.leaky_relu(x); tf.nn.swish(x)""",
    "reductions": """
        tf.reduce_sum(x); tf.reduce_sum(x, 1); tf.reduce_sum(u); tf.reduce_sum(h); tf.reduce_sum(v)
        tf.reduce_mean(x, [0], True); tf.reduce_mean(v); tf.reduce_prod(x, [0, 1]); tf.reduce_min(x, -1); tf.reduce_max(u)
        tf.reduce_all(b); tf.reduce_any(b, 0); tf.reduce_logsumexp(x); tf.reduce_logsumexp(x, 1, True); tf.count_nonzero(x)
        tf.count_nonzero(x, 1); tf.argmax(x); tf.argmin(x, 1, output_type=tf.int32); tf.math.reduce_std(x)
        tf.math.reduce_variance(x, 0); tf.math.reduce_euclidean_norm(x); tf.norm(x); tf.norm(x, 1, axis=1); tf.norm(x, np.inf)
        tf.norm(u); tf.cumsum(x); tf.cumprod(x, 1, exclusive=True); tf.bincount(i); tf.confusion_matrix([1, 2], [1, 0])
        tf.histogram_fixed_width(x, [0.0, 1.0]); tf.segment_sum(x, [0, 1]); tf.unsorted_segment_mean(x, [0, 1], 2)
        tf.unsorted_segment_sqrt_n(x, [0, 1], 2); tf.sparse_segment_sum(x, [0, 1], [0, 0]); tf.nn.moments(x, [0])
        tf.nn.moments(x, [0, 1], keep_dims=True); tf.nn.weighted_moments(x, [0], x); tf.nn.sufficient_statistics(x, [0])
        tf.nn.zero_fraction(x); tf.nn.l2_loss(x); tf.nn.l2_normalize(x, 1); tf.nn.top_k(x, 2); tf.nn.in_top_k(x, [1, 2], 1)""",
    "arrays": """
        tf.reshape(x, [3, 2]); tf.reshape(x, [-1]); tf.transpose(x); tf.transpose(u); tf.transpose(z, conjugate=True)
        tf.transpose(c, [1, 0, 2]); tf.expand_dims(x, 0); tf.expand_dims(x, axis=-1); tf.stack([x, x], 1); tf.unstack(x)
        tf.unstack(x, axis=1); tf.concat([x, x], 1); tf.split(x, 3, 1); tf.split(x, [1, 2], axis=1); tf.tile(x, [2, 1])
        tf.pad(x, [[1, 1], [0, 0]]); tf.pad(x, [[1, 1], [0, 0]], "REFLECT"); tf.pad(x, [[0, 1], [0, 0]], constant_values=1.0)
        tf.slice(x, [0, 0], [1, 2]); tf.strided_slice(x, [0], [1]); x[0]; x[:, 1]; x[..., None]; x[::-1, 1:]; x[b]
        tf.gather(x, [0, 1]); tf.gather(x, [0], axis=1); tf.gather_nd(x, [[0, 1]]); tf.batch_gather(x, [[0], [1]])
        tf.scatter_nd([[0]], [1.0], [3]); tf.boolean_mask(x, b); tf.boolean_mask(x, [True, False])
        tf.boolean_mask(x, [True, False, True], axis=1); tf.reverse(x, [0]); tf.reverse_sequence(x, [1, 2], seq_axis=1)
        tf.one_hot([0, 1], 3); tf.one_hot(i, 4, 2.0, 1.0); tf.sequence_mask([1, 2], 3); tf.sequence_mask([1, 2]); tf.eye(3)
        tf.eye(2, 3, [2]); tf.diag([1.0, 2.0]); tf.matrix_diag(x); tf.matrix_band_part(m, 0, -1)
        tf.matrix_set_diag(m, [1.0, 2.0, 3.0]); tf.matrix_transpose(m); tf.linalg.matrix_transpose(h); tf.zeros([2, 3])
        tf.ones([2, 3], tf.int32); tf.zeros_like(x); tf.ones_like(u); tf.zeros_like(h); tf.fill([2], 1.0); tf.zeros(tf.shape(x))
        tf.shape(x); tf.shape(u); tf.shape(h); tf.size(x); tf.size(u); tf.rank(x); tf.rank(u); tf.shape_n([x, u]); tf.range(3)
        tf.range(0, 6, 2); tf.range(0.0, 1.0, 0.5); tf.linspace(0.0, 1.0, 3); tf.broadcast_to(x, [4, 2, 3])
        tf.broadcast_dynamic_shape([2, 1], [3]); tf.meshgrid([1, 2], [3, 4]); tf.unique([1, 1]); tf.unique_with_counts([1, 1])
        tf.setdiff1d([1, 2], [1]); tf.dynamic_partition(x, [0, 1], 2); tf.dynamic_stitch([[0], [1]], [[1.0], [2.0]])
        tf.space_to_batch(y, [[0, 0], [0, 0]], 2); tf.space_to_batch_nd(y, [2, 2], [[0, 0], [0, 0]])
        tf.depth_to_space(tf.zeros([1, 2, 2, 4]), 2); tf.space_to_depth(y, 2); tf.identity(x); tf.identity_n([x, m])
        tf.stop_gradient(x); tf.ensure_shape(u, [2, 3]); tf.placeholder_with_default(1.0, []); tf.invert_permutation([1, 0])
        tf.searchsorted([1.0, 2.0], [1.5]); tf.roll(x, 1, 0)
        tf.extract_image_patches(y, [1, 2, 2, 1], [1, 1, 1, 1], [1, 1, 1, 1], "VALID")
        tf.tensor_scatter_update(x, [[0]], [[1.0, 2.0, 3.0]]); tf.repeat([1, 2], 2); tf.parallel_stack([x, x])
        tf.required_space_to_batch_paddings([4], [2]); tf.unravel_index([1, 2], [2, 3]); tf.quantize(x, 0.0, 1.0, tf.quint8)
        tf.manip.roll(x, 1, 0); tf.edit_distance(p, p); tf.squeeze(y, [0])""",
    "linalg": """
        tf.matmul(x, x, transpose_b=True); tf.matmul(h, h); tf.matmul(c, c, adjoint_a=True); tf.matmul(x, m)
        tf.tensordot(x, m, 1); tf.tensordot(x, m, [[1], [0]]); tf.einsum("ij,jk->ik", x, m); tf.cholesky(m)
        tf.cholesky_solve(m, m); tf.matrix_inverse(m); tf.matrix_determinant(m); tf.matrix_solve(m, m); tf.trace(m)
        tf.matrix_triangular_solve(m, m); tf.qr(m); tf.svd(m); tf.svd(m, compute_uv=False); tf.self_adjoint_eig(m)
        tf.self_adjoint_eigvals(m); tf.linalg.logdet(m); tf.linalg.slogdet(m); tf.linalg.expm(m); tf.linalg.logm(m)
        tf.linalg.sqrtm(m); tf.linalg.lu(m); tf.linalg.matvec(m, [1.0, 2.0, 3.0]); tf.matrix_solve_ls(m, m)
        tf.linalg.adjoint(m); tf.linalg.cross([1.0, 0.0, 0.0], [0.0, 1.0, 0.0]); tf.linalg.pinv(m); tf.linalg.matrix_rank(m)
        tf.linalg.tridiagonal_solve(m, [1.0, 2.0, 3.0]); tf.linalg.tensor_diag_part(m); tf.fft(z); tf.ifft2d(z)
        tf.spectral.rfft(x); tf.spectral.irfft(z); tf.spectral.dct(x); tf.signal.stft(x, 2, 1); tf.signal.frame(x, 2, 1)
        tf.signal.hann_window(4); tf.signal.fftshift(x); tf.linalg.diag(x); tf.global_norm([x]); tf.sparse_matmul(m, m)
        tf.linalg.norm(m, axis=[0, 1]); tf.linalg.eye(2); tf.signal.overlap_and_add(c, 1)""",
    "nn": """
        tf.nn.softmax(x); tf.nn.softmax(x, 0); tf.nn.log_softmax(x); tf.nn.softmax(c)
        tf.nn.softmax_cross_entropy_with_logits(labels=x, logits=x)
        tf.nn.softmax_cross_entropy_with_logits_v2(labels=x, logits=x)
        tf.nn.sparse_softmax_cross_entropy_with_logits(labels=[0, 1], logits=x)
        tf.nn.sigmoid_cross_entropy_with_logits(labels=x, logits=x); tf.nn.weighted_cross_entropy_with_logits(x, x, 2.0)
        tf.nn.bias_add(x, [1.0, 2.0, 3.0]); tf.nn.xw_plus_b(x, m, [1.0, 2.0, 3.0]); tf.nn.relu_layer(x, m, [1.0, 2.0, 3.0])
        tf.nn.conv2d(y, f, [1, 1, 1, 1], "SAME"); tf.nn.conv2d(y, f, [1, 1, 1, 1], "SAME", dilations=[1, 2, 2, 1])
        tf.nn.atrous_conv2d(y, f, 2, "SAME"); tf.nn.depthwise_conv2d(y, f, [1, 1, 1, 1], "SAME")
        tf.nn.conv2d_transpose(y, f, [1, 8, 8, 3], [1, 2, 2, 1])
        tf.nn.conv1d(tf.zeros([1, 4, 3]), tf.zeros([2, 3, 5]), 1, "SAME")
        tf.nn.separable_conv2d(y, f, tf.zeros([1, 1, 9, 2]), [1, 1, 1, 1], "SAME")
        tf.nn.conv3d(tf.zeros([1, 3, 3, 3, 2]), tf.zeros([1, 1, 1, 2, 3]), [1] * 5, "SAME"); tf.nn.convolution(y, f, "SAME")
        tf.nn.convolution(y, f, "SAME", dilation_rate=[2, 2]); tf.nn.max_pool(y, [1, 2, 2, 1], [1, 2, 2, 1], "SAME")
        tf.nn.avg_pool(y, [1, 2, 2, 1], [1, 2, 2, 1], "SAME"); tf.nn.pool(y, [2, 2], "MAX", "SAME")
        tf.nn.max_pool_with_argmax(y, [1, 2, 2, 1], [1, 2, 2, 1], "SAME"); tf.nn.lrn(y); tf.nn.dropout(x, 0.5)
        tf.nn.dropout(x, rate=0.3, seed=1); tf.nn.dropout(u, 0.5); tf.nn.dropout(x, 0.5, noise_shape=[2, 1])
        tf.nn.batch_normalization(x, [1.0], [1.0], None, None, 1e-3)
        tf.nn.batch_normalization(x, [1.0], [1.0], [0.0], [1.0], 1e-3); tf.nn.fused_batch_norm(y, [1.0] * 3, [0.0] * 3)
        tf.nn.embedding_lookup(m, [0, 1]); tf.nn.embedding_lookup([m, m], [0, 1])
        tf.nn.embedding_lookup(m, [0, 1], max_norm=1.0); tf.nn.embedding_lookup_sparse(m, p, None, combiner="mean")
        tf.nn.log_poisson_loss(x, x); tf.nn.nce_loss(m, [0.0, 0.0, 0.0], [[0], [1]], x, 2, 3)
        tf.nn.sampled_softmax_loss(m, [0.0, 0.0, 0.0], [[0], [1]], x, 2, 3); tf.nn.ctc_loss(p32, tf.zeros([4, 2, 3]), [4, 4])
        tf.nn.ctc_greedy_decoder(tf.zeros([4, 2, 3]), [4, 4]); tf.nn.l2_normalize(x, [0, 1])
        tf.nn.erosion2d(y, tf.zeros([2, 2, 3]), [1, 1, 1, 1], [1, 1, 1, 1], "SAME"); tf.nn.normalize_moments(2.0, x, x, None)
        tf.nn.softsign(x); tf.nn.batch_norm_with_global_normalization(y, [1.0] * 3, [1.0] * 3, [1.0] * 3, [1.0] * 3, 0.1, True)""",
    "image": """
        tf.image.resize_images(y, [2, 2]); tf.image.resize_images(y, [2, 2], 1); tf.image.resize_bilinear(y, [2, 2])
        tf.image.resize_image_with_crop_or_pad(y, 3, 5); tf.image.flip_left_right(y); tf.image.flip_up_down(y[0])
        tf.image.random_flip_left_right(y[0], 1); tf.image.rot90(y); tf.image.transpose_image(y); tf.image.central_crop(y, 0.5)
        tf.image.crop_to_bounding_box(y, 0, 0, 2, 2); tf.image.pad_to_bounding_box(y, 1, 1, 6, 6); tf.image.rgb_to_grayscale(y)
        tf.image.grayscale_to_rgb(tf.zeros([1, 2, 2, 1])); tf.image.rgb_to_hsv(y); tf.image.adjust_brightness(y, 0.1)
        tf.image.adjust_contrast(y, 2.0); tf.image.adjust_hue(y, 0.1); tf.image.adjust_saturation(y, 0.5)
        tf.image.adjust_gamma(y, 2.0); tf.image.random_brightness(y, 0.1, 1); tf.image.random_contrast(y, 0.1, 0.2, 1)
        tf.image.random_hue(y, 0.1, 1); tf.image.random_saturation(y, 0.1, 0.2, 1); tf.image.per_image_standardization(y[0])
        tf.image.convert_image_dtype(y, tf.uint8); tf.image.convert_image_dtype(tf.zeros([2, 2, 3], tf.uint8), tf.float32)
        tf.image.total_variation(y); tf.image.psnr(y, y, 1.0)
        tf.image.ssim(tf.zeros([1, 16, 16, 3]), tf.zeros([1, 16, 16, 3]), 1.0); tf.image.image_gradients(y)
        tf.image.sobel_edges(y); tf.image.rgb_to_yiq(y); tf.image.yuv_to_rgb(y)
        tf.image.crop_and_resize(y, [[0.0, 0.0, 1.0, 1.0]], [0], [2, 2]); tf.random_crop(y, [1, 2, 2, 3], 1)
        tf.image.non_max_suppression([[0.0, 0.0, 1.0, 1.0]], [1.0], 1); tf.image.draw_bounding_boxes(y, tf.zeros([1, 1, 4]))
        tf.image.extract_glimpse(y, [2, 2], [[0.0, 0.0]]); tf.image.decode_png(t); tf.image.decode_jpeg(t)
        tf.image.decode_image(t); tf.image.encode_png(tf.zeros([2, 2, 3], tf.uint8)); tf.image.resize_image_with_pad(y, 8, 6)
        tf.image.sample_distorted_bounding_box([4, 4, 3], tf.zeros([1, 1, 4]), seed=1)
        tf.image.random_jpeg_quality(tf.zeros([4, 4, 3]), 10, 20, 1)""",
    "strings": """
        tf.string_join([s, s], "-"); tf.string_split(s); tf.string_split(s, ","); tf.substr(s, 0, 1); tf.as_string(x)
        tf.as_string(i, width=3); tf.string_to_number(s); tf.string_to_hash_bucket_fast(s, 5)
        tf.string_to_hash_bucket_strong(s, 5, [1, 2]); tf.reduce_join(s, 0); tf.regex_replace(s, "a", "b")
        tf.strings.regex_full_match(s, "a"); tf.strings.length(s); tf.strings.lower(s); tf.strings.strip(s); tf.encode_base64(s)
        tf.decode_base64(s); tf.decode_raw(s, tf.uint8); tf.strings.unicode_transcode(s, "UTF-8", "UTF-16-BE")
        tf.strings.format("{} {}", [x, s]); tf.decode_csv(s, [[1], [""]]); tf.parse_tensor(t, tf.float32)
        tf.io.serialize_tensor(x)
        tf.parse_example(s, {"a": tf.FixedLenFeature([2], tf.float32), "b": tf.VarLenFeature(tf.int64)})
        tf.parse_single_example(t, {"a": tf.FixedLenFeature([], tf.string, "d")}); tf.Print(x, [x]); tf.print(x)
        tf.Assert(True, [x]); tf.decode_json_example(s); tf.strings.unsorted_segment_join(s, [0, 0], 1)
        tf.string_to_hash_bucket(s, 3); tf.serialize_sparse(p); tf.decode_compressed(s)""",
    "random": """
        tf.random_uniform([2, 3]); tf.random_uniform([2, 3], 1.0, 2.0, seed=1); tf.random_uniform([2], 0, 5, tf.int32)
        tf.random_normal([2, 3]); tf.random_normal([2], 1.0, 2.0); tf.truncated_normal([2, 3]); tf.random_shuffle(x)
        tf.random_crop(x, [1, 2]); tf.multinomial(x, 2); tf.random.categorical(x, 2); tf.random_gamma([2], 1.0)
        tf.random_gamma([2], [1.0, 2.0], [3.0, 4.0]); tf.random_poisson([1.0, 2.0], [3])
        tf.random.stateless_uniform([2], [1, 2]); tf.random.stateless_normal([2], [1, 2], 1.0, 2.0)
        tf.random.stateless_truncated_normal([2], [1, 2]); tf.random.stateless_categorical(x, 2, [1, 2])
        tf.random.uniform_candidate_sampler([[0]], 1, 1, True, 3); tf.random.stateless_uniform([2], [1, 2], 0, 5, tf.int32)
        tf.random.log_uniform_candidate_sampler([[0]], 1, 1, True, 3); tf.random_uniform(tf.shape(x))
        tf.nn.compute_accidental_hits([[0]], [1, 2], 1); tf.random.all_candidate_sampler([[0]], 1, 1, True)
        tf.random.learned_unigram_candidate_sampler([[0]], 1, 1, True, 3)""",
    "sparse": """
        tf.sparse_tensor_to_dense(p); tf.sparse_to_dense([0], [3], 1.0); tf.sparse_add(p, p); tf.sparse_add(p, x)
        tf.sparse_reduce_sum(p); tf.sparse_reduce_sum(p, 1); tf.sparse_reduce_max_sparse(p, 0); tf.sparse_reorder(p)
        tf.sparse_reshape(p, [3, 2]); tf.sparse_transpose(p); tf.sparse_slice(p, [0, 0], [1, 2]); tf.sparse_concat(0, [p, p])
        tf.sparse_retain(p, [True]); tf.sparse_fill_empty_rows(p, 0.0); tf.sparse_tensor_dense_matmul(p, m)
        tf.sparse_softmax(p); tf.sparse_maximum(p, p); tf.sparse_to_indicator(pi, 3); tf.sparse_reset_shape(p)
        tf.sparse_mask(tf.IndexedSlices(x, [0, 1]), [1]); tf.sparse.from_dense(x); tf.sparse.expand_dims(p, 0); tf.sparse.eye(2)
        tf.sparse.cross([pi, pi]); p * x; p / x; tf.sets.size(pi); tf.sets.union(pi, pi); tf.sets.intersection(i, i)
        tf.SparseTensor([[0, 0]], [1.0], [2, 3]); tf.deserialize_many_sparse(tf.constant([["", "", ""]]), tf.float32)""",
    "debugging": """
        tf.assert_equal(x, x); tf.assert_equal(i, 1, message="m"); tf.assert_less(x, 1.0); tf.assert_positive(x)
        tf.assert_non_negative(x); tf.assert_rank(x, 2); tf.assert_rank(u, 2); tf.assert_rank_at_least(u, 1)
        tf.assert_rank_in(u, [1, 2]); tf.assert_type(x, tf.float32); tf.assert_integer(i); tf.assert_near(x, x)
        tf.assert_none_equal(x, 1.0); tf.assert_greater_equal(x, 0.0); tf.is_non_decreasing(x); tf.is_strictly_increasing(x)
        tf.add_check_numerics_ops(); tf.verify_tensor_all_finite(x, "m"); tf.assert_scalar(1.0)
        tf.debugging.assert_shapes([(x, (2, "n"))]); tf.is_numeric_tensor(x); tf.assert_proper_iterable([x])
        tf.assert_same_float_dtype([x])""",
    "gradients": """
        tf.gradients(tf.reduce_sum(x * m0), x); tf.gradients(tf.nn.softmax(x), x); tf.gradients(tf.matmul(x, m), [x, m])
        tf.gradients(tf.reduce_mean(x, 1), x); tf.gradients(tf.gather(m, [0, 0]), m); tf.gradients(tf.reduce_max(x, 1), x)
        tf.gradients(tf.reduce_prod(x), x); tf.gradients(tf.concat([x, x], 0), x); tf.gradients(x[0], x)
        tf.gradients(tf.nn.l2_normalize(x, 1), x); tf.gradients(tf.nn.conv2d(y, f, [1, 1, 1, 1], "SAME"), [y, f])
        tf.gradients(tf.nn.max_pool(y, [1, 2, 2, 1], [1, 2, 2, 1], "SAME"), y); tf.gradients(tf.split(x, 3, 1)[0], x)
        tf.gradients(tf.nn.bias_add(x, v0), v0); tf.gradients(tf.transpose(x), x); tf.gradients(tf.pow(x, 2.0), x)
        tf.gradients(tf.maximum(x, 0.0), x); tf.gradients(tf.sqrt(u), u)
        tf.gradients(tf.nn.softmax_cross_entropy_with_logits_v2(labels=m0, logits=x), x); tf.gradients(tf.cumsum(x), x)
        tf.gradients(tf.tile(x, [2, 1]), x); tf.gradients(tf.pad(x, [[1, 1], [0, 0]]), x); tf.gradients(tf.stack([x, x]), x)
        tf.gradients(tf.reduce_sum(u, 1), u); tf.gradients(tf.where(b, x, m0), x); tf.gradients(tf.nn.top_k(x, 2)[0], x)
        tf.gradients(tf.nn.moments(x, [0]), x); tf.gradients(tf.matrix_inverse(m), m); tf.gradients(tf.cholesky(m), m)
        tf.gradients(tf.segment_sum(x, [0, 1]), x); tf.gradients(tf.einsum("ij,jk->ik", x, m), x)
        tf.gradients(tf.nn.dropout(x, 0.5, seed=1), x); tf.gradients(tf.clip_by_norm(x, 1.0), x)
        tf.gradients(tf.clip_by_value(x, 0.0, 1.0), x); tf.gradients(tf.nn.fused_batch_norm(y, v0, v0)[0], y)
        tf.hessians(tf.reduce_sum(x * x), x)
        tf.gradients(tf.nn.sparse_softmax_cross_entropy_with_logits(labels=[0, 1], logits=x), x)
        tf.gradients(tf.nn.log_softmax(x), x); tf.gradients(tf.reduce_logsumexp(x), x)""",
}


def calls():
    return [(family, one.strip()) for family, text in CALLS.items() for line in text.splitlines() for one in line.split("; ")
            if one.strip()]


def arguments(tf):
    """What the calls name: small tensors of several dtypes and shapes, u of unknown rank, h of unknown sizes."""
    import numpy as np

    sparse = [tf.SparseTensor(tf.constant([[0, 0], [1, 2]], tf.int64), tf.constant([1, 2], dtype), tf.constant([2, 3], tf.int64))
              for dtype in (tf.float32, tf.int64, tf.int32)]
    return {"tf": tf, "np": np, "x": tf.placeholder(tf.float32, [2, 3], "x"), "i": tf.placeholder(tf.int32, [2, 3], "i"),
            "b": tf.placeholder(tf.bool, [2, 3], "b"), "z": tf.placeholder(tf.complex64, [2, 3], "z"),
            "s": tf.placeholder(tf.string, [2], "s"), "t": tf.placeholder(tf.string, [], "t"),
            "u": tf.placeholder(tf.float32, None, "u"), "h": tf.placeholder(tf.float32, [None, None], "h"),
            "m": tf.placeholder(tf.float32, [3, 3], "m"), "c": tf.placeholder(tf.float32, [2, 3, 4], "c"),
            "m0": tf.placeholder(tf.float32, [2, 3], "m0"), "v0": tf.placeholder(tf.float32, [3], "v0"),
            "y": tf.placeholder(tf.float32, [1, 4, 4, 3], "y"), "f": tf.placeholder(tf.float32, [2, 2, 3, 3], "f"),
            "v": tf.Variable([1.0, 2.0], name="v"), "p": sparse[0], "pi": sparse[1], "p32": sparse[2]}


def nodes_of(tf, call):
    """Names and types of the nodes that a call adds, in order; of a call that fails, the class of the error."""
    with tf.Graph().as_default() as graph:
        names = arguments(tf)
        before = len(graph.get_operations())
        try:
            eval(call, names)
        except Exception as error:
            return ["raises " + type(error).__name__]
        return [op.name + " " + op.type for op in graph.get_operations()[before:]]


if __name__ == "__main__":
    import tensorflow

    found = {call: nodes_of(tensorflow, call) for _, call in calls()}
    print("{\n" + ",\n".join(json.dumps(call) + ": " + json.dumps(nodes) for call, nodes in found.items()) + "\n}")
