"""``tensorflow.python.platform.build_info``: for what TensorFlow was built, which is not for devices of NVIDIA or AMD."""

is_cuda_build = is_rocm_build = False
