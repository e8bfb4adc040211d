"""What every driver does: the fake one here, the real one where a GPU is (`pytest -m gpu`)."""
import numpy as np
import pytest

from jitgraph.runtime.cuda.driver import DriverError, OutOfMemory


def test_devices_say_what_they_are(driver):
    for device in driver.devices():
        assert device.name and device.capability >= (7, 5) and device.memory > 1 << 20 and device.multiprocessors >= 1
    assert driver.version()


def test_what_is_copied_there_comes_back(driver):
    stream = driver.stream(0)
    x, y = np.arange(1000, dtype=np.float32), np.empty(1000, np.float32)
    a, b = driver.alloc(0, 4000), driver.alloc(0, 4000)
    driver.to_device(a, x, stream)
    driver.on_device(b, a, 4000, stream)
    driver.fill(b, 0, 8, stream)
    driver.to_host(y, b, stream)
    driver.synchronize(stream)
    assert y[:2].tolist() == [0, 0] and (y[2:] == x[2:]).all()
    assert a % 256 == b % 256 == 0
    driver.free(0, a)
    driver.free(0, b)
    driver.free_stream(stream)


def test_memory_is_counted_and_comes_back(driver):
    free, total = driver.memory(0)
    address = driver.alloc(0, 1 << 28)
    less, _ = driver.memory(0)
    assert less <= free - (1 << 28) and free <= total
    driver.free(0, address)
    assert driver.memory(0)[0] > less


def test_too_much_memory_is_refused_with_its_size(driver):
    with pytest.raises(OutOfMemory) as caught:
        driver.alloc(0, 1 << 50)
    assert caught.value.nbytes == 1 << 50


def test_pinned_memory(driver):
    stream, array, address = driver.stream(0), driver.pinned(64), driver.alloc(0, 64)
    assert array.dtype == np.uint8 and len(array) == 64 and array.flags.writeable
    array[...] = 7
    driver.to_device(address, array, stream)
    driver.synchronize(stream)
    array[...] = 0
    driver.to_host(array, address, stream)
    driver.synchronize(stream)
    assert (array == 7).all()
    driver.free_pinned(array)


def test_events_order_streams_and_measure_time(driver):
    first, second = driver.stream(0), driver.stream(0)
    before, after = driver.event(0), driver.event(0)
    x, y, address = np.ones(1 << 16, np.uint8), np.zeros(1 << 16, np.uint8), driver.alloc(0, 1 << 16)
    driver.record(before, first)
    driver.to_device(address, x, first)
    driver.record(after, first)
    driver.wait(second, after)
    driver.to_host(y, address, second)
    driver.synchronize(second)
    assert (y == 1).all() and driver.elapsed(before, after) > 0
    driver.wait_for(after)
    driver.free_event(before)
    driver.free_event(after)


def launch(driver, doubled, x, stream, function=None):
    """The pieces of a launch: (function, addresses of x, result, sizes and error word, their bytes)."""
    kernel, words = doubled
    function = function or driver.load(0, driver.object_code(kernel, driver.devices()[0].capability), kernel.name)
    nbytes = [x.nbytes, x.nbytes, 8 * len(words), 8]
    pointers = [driver.alloc(0, n) for n in nbytes]
    driver.to_device(pointers[0], x, stream)
    driver.to_device(pointers[2], np.array(words, np.int64), stream)
    driver.fill(pointers[3], 0, 8, stream)
    return function, pointers, nbytes


def test_a_kernel_runs(driver, doubled):
    x, y, stream = np.arange(100, dtype=np.float32), np.empty(100, np.float32), driver.stream(0)
    function, pointers, nbytes = launch(driver, doubled, x, stream)
    driver.launch(function, 1, 32, pointers, nbytes, stream)
    driver.to_host(y, pointers[1], stream)
    driver.synchronize(stream)
    assert (y == 2 * x).all()
    driver.unload(function)


def test_a_graph_does_again_what_was_captured(driver, doubled):
    """Nothing is done while it is noted; each launch reads what lies at the same addresses then."""
    stream, staging, result = driver.stream(0), driver.pinned(400), driver.pinned(400)
    x, y = staging.view(np.float32), result.view(np.float32)
    x[...], y[...] = 1, 0
    function, pointers, nbytes = launch(driver, doubled, x, stream)
    driver.synchronize(stream)
    driver.begin_capture(stream)
    driver.to_device(pointers[0], x, stream)
    driver.launch(function, 1, 32, pointers, nbytes, stream)
    driver.to_host(y, pointers[1], stream)
    captured = driver.end_capture(stream)
    driver.synchronize(stream)
    assert (y == 0).all()
    graph = driver.instantiate(captured)
    for k in (3, 5):
        x[...] = k
        driver.launch_graph(graph, stream)
        driver.synchronize(stream)
        assert (y == 2 * k).all()
    driver.free_graph(graph)


def test_a_captured_stream_cannot_be_waited_for(driver):
    stream = driver.stream(0)
    driver.begin_capture(stream)
    with pytest.raises(DriverError):
        driver.synchronize(stream)
    with pytest.raises(DriverError):
        driver.end_capture(stream)
    driver.synchronize(stream)


def test_a_device_that_there_is_not(driver):
    with pytest.raises(DriverError, match="there is no device 99"):
        driver.stream(99)
