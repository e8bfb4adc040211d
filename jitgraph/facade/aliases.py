"""Public names that are only other names of something: TensorFlow 1.15 has many a function in several namespaces.

``"sparse": "add=sparse_add"`` says that ``tf.sparse.add`` is what ``tf.sparse_add`` is; without ``=`` it is ``tf.add``.
A line may name what is not there yet: the alias appears together with it.
"""
from __future__ import annotations

ALIASES: dict[str, str] = {
    "": "matrix_square_root=linalg.sqrtm",
    "dtypes": "as_string complex",
    "initializers": "tables_initializer",
    "io": """
        FixedLenFeature FixedLenSequenceFeature SparseFeature VarLenFeature decode_base64 decode_compressed decode_csv
        decode_json_example decode_raw deserialize_many_sparse encode_base64 parse_example parse_single_example
        parse_single_sequence_example parse_tensor serialize_many_sparse serialize_sparse serialize_tensor""",
    "linalg": "global_norm",
    "quantization": """
        dequantize fake_quant_with_min_max_args fake_quant_with_min_max_args_gradient fake_quant_with_min_max_vars
        fake_quant_with_min_max_vars_gradient fake_quant_with_min_max_vars_per_channel
        fake_quant_with_min_max_vars_per_channel_gradient quantize quantized_concat""",
    "random": "learned_unigram_candidate_sampler=nn.learned_unigram_candidate_sampler",
    "saved_model.experimental": "save=saved_model.save",
    "sparse": """
        SparseTensor add=sparse_add concat=sparse_concat fill_empty_rows=sparse_fill_empty_rows mask=sparse_mask
        matmul=sparse_tensor_dense_matmul maximum=sparse_maximum merge=sparse_merge minimum=sparse_minimum
        reduce_max=sparse_reduce_max reduce_max_sparse=sparse_reduce_max_sparse reduce_sum=sparse_reduce_sum
        reduce_sum_sparse=sparse_reduce_sum_sparse reorder=sparse_reorder reset_shape=sparse_reset_shape
        reshape=sparse_reshape retain=sparse_retain slice=sparse_slice softmax=sparse_softmax
        sparse_dense_matmul=sparse_tensor_dense_matmul split=sparse_split to_dense=sparse_tensor_to_dense
        to_indicator=sparse_to_indicator transpose=sparse_transpose""",
    "strings": """
        as_string join=string_join reduce_join regex_replace strip=string_strip to_hash_bucket=string_to_hash_bucket
        to_hash_bucket_fast=string_to_hash_bucket_fast to_hash_bucket_strong=string_to_hash_bucket_strong
        to_number=string_to_number""",
}
