"""The share of the host in networks under the CUDA target, as their plans say."""

import pytest

from . import device_share


@pytest.mark.parametrize("name", ["mobilenet-training-8", "espcn-training-8", "cnn-3d-training-8", "dqn-training-32",
                                  "bert-training-8", "ptb-unrolled-training-20"])
def test_a_step_of_training_needs_no_kernel_of_the_host(name):
    launches, kernels, operations = device_share.share(device_share.planned(name))
    assert launches > 10 and not kernels and not operations
