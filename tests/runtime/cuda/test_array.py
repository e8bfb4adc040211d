"""Results that stay on a device."""
import ctypes
import gc

import numpy as np
import pytest

from jitgraph.runtime.cuda import array as arrays


@pytest.fixture
def stayed(tf, monkeypatch):
    """(result on a device, result of the host, driver) of one run."""
    monkeypatch.setenv("JITGRAPH_TARGET", "cuda-simulator")
    x = tf.placeholder(tf.float32, [2, 3])
    with tf.Session(jit="always") as session:
        y, n = session.run_on_devices([tf.exp(x), tf.string_join(["a", "b"])], {x: np.zeros((2, 3))})
        assert isinstance(session.run(tf.exp(x), {x: np.zeros((2, 3))}), np.ndarray)
        driver = session._state.machine.driver
    return y, n, driver


def test_it_lies_on_the_device_and_can_be_copied(stayed):
    y, n, driver = stayed
    assert n == b"ab" and y.shape == (2, 3) and y.dtype == np.float32
    assert np.asarray(y).tolist() == [[1] * 3] * 2
    with pytest.raises(ValueError, match="only by a copy"):
        np.asarray(y, copy=False)
    told = y.__cuda_array_interface__
    assert told["shape"] == (2, 3) and told["typestr"] == "<f4" and told["version"] == 3
    assert driver._space(0).view(told["data"][0], 24, "look").view(np.float32).tolist() == [1] * 6


def test_dlpack(stayed):
    """The tensor behind the capsule, as the one who takes it reads it, who says when it may go."""
    y, _, _ = stayed
    capsule = y.__dlpack__(stream=None)
    managed = arrays.Managed.from_address(arrays._pointer(id(capsule), b"dltensor"))
    tensor = managed.tensor
    assert tensor.data == y.__cuda_array_interface__["data"][0] and tensor.shape[:2] == [2, 3] and not tensor.strides
    assert (tensor.device_type, tensor.device) == y.__dlpack_device__() == (2, 0)
    assert (tensor.ndim, tensor.code, tensor.bits, tensor.lanes) == (2, 2, 32, 1)
    assert ctypes.addressof(managed) in arrays._GIVEN
    ctypes.CFUNCTYPE(None, ctypes.c_void_p)(managed.deleter)(ctypes.addressof(managed))
    assert ctypes.addressof(managed) not in arrays._GIVEN
    with pytest.raises(BufferError):
        y.__dlpack__(dl_device=(1, 0))


@pytest.mark.parametrize("dtype, code, bits", [("float16", 2, 16), ("bfloat16", 4, 16), ("float64", 2, 64), ("int8", 0, 8),
                                               ("uint16", 1, 16), ("int64", 0, 64), ("bool", 6, 8)])
def test_dlpack_names_every_type_of_a_device(tf, monkeypatch, dtype, code, bits):
    monkeypatch.setenv("JITGRAPH_TARGET", "cuda-simulator")
    x = tf.placeholder(dtype, [3])
    with tf.Session(jit="always") as session:
        y = session.run_on_devices(tf.reverse(x, [0]), {x: np.array([1, 0, 0])})
        capsule = y.__dlpack__()
        tensor = arrays.Managed.from_address(arrays._pointer(id(capsule), b"dltensor")).tensor
        assert (tensor.code, tensor.bits, tensor.lanes) == (code, bits, 1)
        assert np.asarray(y).astype(int).tolist() == [0, 0, 1]


def test_a_capsule_that_nobody_takes_holds_nothing(stayed):
    before = len(arrays._GIVEN)
    capsule = stayed[0].__dlpack__()
    assert len(arrays._GIVEN) == before + 1
    del capsule
    gc.collect()
    assert len(arrays._GIVEN) == before


def test_the_first_run_leaves_its_results_there_too_and_variables_are_copied_there(tf, monkeypatch):
    """A first run, which is usually NumPy's, is compiled where results are to stay."""
    monkeypatch.setenv("JITGRAPH_TARGET", "cuda-simulator")
    v = tf.Variable([1.0, 2.0])
    y, more = tf.exp(v) * 2.0, tf.assign_add(v, [1.0, 1.0])
    with tf.Session() as session:
        session.run(v.initializer)
        first, changed = session.run_on_devices([y, more])
        (kept,) = session.run_on_devices([v])
        session.run(more.op)
        assert all(isinstance(one, arrays.DeviceArray) for one in (first, changed, kept))
        assert np.asarray(kept).tolist() == np.asarray(changed).tolist() == [2, 3] and session.run(v).tolist() == [3, 4]


def test_on_the_cpu_results_are_arrays(tf):
    with tf.Session() as session:
        assert isinstance(session.run_on_devices(tf.constant([1.0]) + 1.0), np.ndarray)


def test_parts_share_the_memory_where_they_lie_together(tf, driver):
    from jitgraph.runtime.cuda.array import DeviceArray, put
    from jitgraph.runtime.cuda.machine import Machine

    value = np.arange(24, dtype=np.float32).reshape(2, 3, 4)
    array = put(value, Machine(driver).devices[0])
    for index in [np.s_[1:2, ...], np.s_[0:1, 1:3, ...], np.s_[1:2, 2:3, 1:3], np.s_[:, :, :], np.s_[1:1, ...]]:
        found = array[index]
        assert isinstance(found, DeviceArray) and found.base is array
        np.testing.assert_array_equal(found, value[index])
    for index in [np.s_[:, 1:2, ...], np.s_[::-1, ...], np.s_[:, :, 1:3]]:
        assert isinstance(array[index], np.ndarray)
        np.testing.assert_array_equal(array[index], value[index])
    np.testing.assert_array_equal(array[1][2], value[1, 2])
    assert array[1][2].base is array and array.copy().base is None
    np.testing.assert_array_equal(array.reshape((6, 4)), value.reshape(6, 4))
    np.testing.assert_array_equal(np.stack([array, value]), np.stack([value, value]))
    np.testing.assert_array_equal(np.concatenate([array[0], array[1]], 1), np.concatenate([value[0], value[1]], 1))
    assert isinstance(np.concatenate([array[0], array[1]]), DeviceArray) and isinstance(np.tanh(array), np.ndarray)
