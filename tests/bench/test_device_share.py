"""The share of the host in networks under the CUDA target, as their plans say."""

import pytest

import jitgraph as tf
from jitgraph.compiler.emit import cuda_compile

from . import device_share


def test_the_widths_of_moves():
    ptx = "ld.global.nc.u64 %rd1; ld.global.nc.v4.f32 {..}; ld.global.f32 %f1; st.global.u8 [..]; st.shared.f64 [..]"
    assert (device_share.widths(ptx, "ld"), device_share.widths(ptx, "st")) == ("4 16", "1")


@pytest.mark.skipif(cuda_compile.missing() is not None, reason=cuda_compile.missing() or "")
def test_the_table_of_kernels(capsys):
    device_share.print_kernels(device_share.planned("espcn-forward-1"))
    header, *lines = capsys.readouterr().out.splitlines()
    assert header.split()[:2] == ["kernel", "launches"] and lines
    assert all(line.split()[5] == "0" for line in lines)        # nothing is spilled


@pytest.mark.parametrize("name", ["mobilenet-training-8", "espcn-training-8", "cnn-3d-training-8", "dqn-training-32",
                                  "bert-training-8", "ptb-unrolled-training-20"])
def test_a_step_of_training_needs_no_kernel_of_the_host(name):
    launches, kernels, operations = device_share.share(device_share.planned(name))
    assert launches > 10 and not kernels and not operations


@pytest.mark.slow
def test_a_step_that_zeros_lead_astray_is_simulated():
    """Lengths of sequences that are all zero leave its TensorArrays empty, which TensorFlow refuses to stack."""
    with pytest.raises(tf.errors.InvalidArgumentError, match="Could not read from TensorArray index 0"):
        device_share.stepped("gru-tagger-forward-32")
    launches, host, *_ = device_share.stepped_or_simulated("gru-tagger-forward-32")
    assert launches > 50 and "While" in host


def test_the_loops_of_a_recurrent_network_run_on_the_device():
    """The host hands elements on, and waits neither for a round forward nor for one back."""
    launches, host, copies, nbytes, waits, asked = device_share.stepped("char-rnn-training-50")
    assert launches > 100 and waits < 6
    assert "launches" not in asked and asked["graphs"] < 16      # all rounds of a loop but the first are one
    assert copies < 10 and nbytes < 1500         # error words and small feeds: neither inputs nor elements go over the host
    assert set(host) <= {
        "EmptyTensorList", "TensorArrayV3", "While", "TensorArrayScatterV3", "TensorArraySizeV3", "Range", "ZerosLike",
        "TensorArrayGatherV3", "TensorArrayGradientOfRows", "TensorArrayRowsGradient"}
