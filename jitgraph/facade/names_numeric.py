"""The public names of linear algebra, signals, images, sparse tensors and quantization; the table is of the form that
``jitgraph.facade.names`` explains.
"""
from __future__ import annotations

NUMERIC: dict[str, str] = {
    "ops.linalg.matrix_ops": """
        cholesky matrix_inverse matrix_determinant matrix_solve matrix_triangular_solve qr
        linalg.cholesky linalg.inv=matrix_inverse linalg.det=matrix_determinant linalg.solve=matrix_solve
        linalg.triangular_solve=matrix_triangular_solve linalg.qr linalg.lu linalg.slogdet linalg.sqrtm linalg.logm""",
    "ops.linalg.linalg_functions": """
        cholesky_solve linalg.expm matrix_solve_ls self_adjoint_eig self_adjoint_eigvals svd linalg.cholesky_solve
        linalg.lstsq=matrix_solve_ls linalg.eigh=self_adjoint_eig linalg.eigvalsh=self_adjoint_eigvals linalg.svd
        linalg.logdet linalg.adjoint linalg.matvec linalg.matrix_rank linalg.pinv""",
    "ops.strings.proto_ops": "io.decode_proto io.encode_proto contrib.proto.decode_proto contrib.proto.encode_proto",
    "ops.linalg.tridiagonal": "linalg.tridiagonal_solve linalg.tridiagonal_matmul",
    "ops.linalg.einsum": "einsum linalg.einsum",
    "ops.signal.fft": """
        fft fft2d fft3d ifft ifft2d ifft3d spectral.fft spectral.fft2d spectral.fft3d spectral.ifft spectral.ifft2d
        spectral.ifft3d spectral.rfft spectral.rfft2d spectral.rfft3d spectral.irfft spectral.irfft2d
        spectral.irfft3d signal.fft signal.fft2d signal.fft3d signal.ifft signal.ifft2d signal.ifft3d signal.rfft
        signal.rfft2d signal.rfft3d signal.irfft signal.irfft2d signal.irfft3d signal.fftshift signal.ifftshift""",
    "ops.signal.signal_frames": """
        signal.hann_window signal.hamming_window signal.frame signal.overlap_and_add signal.stft
        signal.inverse_stft signal.inverse_stft_window_fn""",
    "ops.signal.cosine_transform": """
        spectral.dct spectral.idct signal.dct signal.idct signal.linear_to_mel_weight_matrix
        signal.mfccs_from_log_mel_spectrograms""",
    "ops.image.image_resize": """
        image.resize_bilinear image.resize_nearest_neighbor image.resize_bicubic image.resize_area""",
    "ops.image.image_resize_methods": """
        image.ResizeMethod image.resize_images image.resize=resize_images image.resize_image_with_pad
        image.per_image_standardization""",
    "ops.image.image_geometry": """
        image.flip_left_right image.flip_up_down image.random_flip_left_right image.random_flip_up_down image.rot90
        image.transpose_image image.transpose=transpose_image image.central_crop image.pad_to_bounding_box
        image.crop_to_bounding_box image.resize_image_with_crop_or_pad
        image.resize_with_crop_or_pad=resize_image_with_crop_or_pad""",
    "ops.image.image_color": """
        image.rgb_to_hsv image.hsv_to_rgb image.adjust_brightness image.adjust_contrast image.adjust_gamma
        image.adjust_hue image.adjust_saturation image.random_brightness image.random_contrast image.random_hue
        image.random_saturation image.rgb_to_grayscale image.grayscale_to_rgb image.rgb_to_yiq image.yiq_to_rgb
        image.rgb_to_yuv image.yuv_to_rgb""",
    "ops.image.image_dtype": "image.convert_image_dtype",
    "ops.image.image_crop": "image.crop_and_resize image.extract_glimpse",
    "ops.image.image_codecs": """
        image.decode_png image.decode_jpeg image.decode_and_crop_jpeg image.decode_bmp image.decode_gif
        image.decode_image image.extract_jpeg_shape image.encode_png image.encode_jpeg image.is_jpeg
        image.adjust_jpeg_quality image.random_jpeg_quality io.decode_png io.decode_jpeg io.decode_and_crop_jpeg
        io.decode_bmp io.decode_gif io.decode_image io.extract_jpeg_shape io.encode_jpeg io.is_jpeg""",
    "ops.image.image_boxes": """
        image.non_max_suppression image.non_max_suppression_with_scores image.non_max_suppression_padded
        image.non_max_suppression_overlaps image.draw_bounding_boxes""",
    "ops.image.image_box_sampling": "image.sample_distorted_bounding_box image.combined_non_max_suppression",
    "ops.image.image_quality": """
        image.total_variation image.psnr image.ssim image.ssim_multiscale image.image_gradients image.sobel_edges""",
    "ops.sparse.sparse_functions": """
        sparse_concat sparse_split sparse_slice sparse_reorder sparse_reshape sparse_transpose sparse_retain
        sparse_reset_shape sparse_fill_empty_rows sparse_to_dense sparse_tensor_to_dense sparse_merge
        sparse_to_indicator sparse_add sparse_tensor_dense_matmul sparse_softmax sparse_maximum sparse_minimum
        sparse_reduce_sum sparse_reduce_max sparse_reduce_sum_sparse sparse_reduce_max_sparse sparse_mask
        sparse.from_dense sparse.eye=sparse_eye sparse.expand_dims=sparse_expand_dims""",
    "ops.sparse.set_operations": """
        sets.set_size sets.set_intersection sets.set_difference sets.set_union sets.size=set_size
        sets.intersection=set_intersection sets.difference=set_difference sets.union=set_union""",
    "ops.sparse.edit_distance": "edit_distance",
    "ops.quantize.fake_quantization": """
        fake_quant_with_min_max_args fake_quant_with_min_max_args_gradient fake_quant_with_min_max_vars
        fake_quant_with_min_max_vars_gradient fake_quant_with_min_max_vars_per_channel
        fake_quant_with_min_max_vars_per_channel_gradient quantization.quantize_and_dequantize""",
    "ops.quantize.quantization": "quantize quantize_v2 dequantize",
    "ops.nn.fractional_pooling": "nn.fractional_max_pool nn.fractional_avg_pool",
    "ops.quantize.requantization": "quantized_concat",
    "ops.quantize.quantized_arithmetic": """
        nn.quantized_conv2d nn.quantized_max_pool nn.quantized_avg_pool nn.quantized_relu_x""",
    "losses.ctc": """
        nn.ctc_loss nn.ctc_loss_v2 nn.ctc_greedy_decoder nn.ctc_beam_search_decoder nn.ctc_beam_search_decoder_v2
        nn.collapse_repeated nn.ctc_unique_labels""",
    "ops.sparse.sparse_cross": "sparse.cross=sparse_cross sparse.cross_hashed=sparse_cross_hashed",
    "ops.nn.volume_patches": "extract_volume_patches image.extract_patches",
    "ragged.ragged_tensor": "RaggedTensor",
    "ragged.ragged_value": "ragged.RaggedTensorValue",
    "ragged.factories": "ragged.constant ragged.constant_value ragged.placeholder ragged.range",
    "ragged.row_ids": "ragged.row_splits_to_segment_ids ragged.segment_ids_to_row_splits",
    "ragged.functions": "ragged.map_flat_values ragged.boolean_mask ragged.stack ragged.stack_dynamic_partitions",
}
