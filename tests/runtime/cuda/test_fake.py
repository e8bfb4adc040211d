"""What the fake driver refuses, each a thing that a GPU would punish now and then."""
import numpy as np
import pytest

from jitgraph.compiler.emit.simt import SimulationError
from jitgraph.runtime.cuda.driver import DriverError, OutOfMemory


def test_streams_work_only_when_somebody_waits(fake):
    driver = fake()
    stream, address, y = driver.stream(0), driver.alloc(0, 4), np.zeros(4, np.uint8)
    driver.fill(address, 1, 4, stream)
    driver.to_host(y, address, stream)
    assert (y == 0xA5).all()
    driver.synchronize(stream)
    assert (y == 1).all()


def test_a_missing_wait_between_streams_shows(fake):
    driver = fake()
    first, second, address, y = driver.stream(0), driver.stream(0), driver.alloc(0, 4), np.zeros(4, np.uint8)
    driver.fill(address, 1, 4, first)
    driver.to_host(y, address, second)
    driver.synchronize(second)
    assert (y == 0xA5).all()
    event = driver.event(0)
    driver.record(event, first)
    driver.wait(second, event)
    driver.to_host(y, address, second)
    driver.synchronize(second)
    assert (y == 1).all()


def test_pinned_memory_that_changes_too_early_shows(fake):
    """Ordinary memory is read at once, pinned memory when the copy is done."""
    driver = fake()
    stream, address, y = driver.stream(0), driver.alloc(0, 8), np.zeros(8, np.uint8)
    for array, seen in ((np.ones(8, np.uint8), 1), (driver.pinned(8), 2)):
        array[...] = 1
        driver.to_device(address, array, stream)
        array[...] = 2
        driver.to_host(y, address, stream)
        driver.synchronize(stream)
        assert (y == seen).all()


def test_fresh_memory_is_full_of_what_nobody_should_read(fake):
    driver = fake()
    stream, y = driver.stream(0), np.zeros(4, np.uint8)
    driver.to_host(y, driver.alloc(0, 4), stream)
    driver.synchronize(stream)
    assert (y == 0xA5).all()


@pytest.mark.parametrize("wrong, what", [
    (lambda d, a: a + 8, "out of bounds"), (lambda d, a: a + 600, "never allocated"), (lambda d, a: 1234, "never allocated"),
    (lambda d, a: d.alloc(1, 16), "an address of device 1")])
def test_addresses_are_checked(fake, wrong, what):
    driver = fake(2)
    stream, address = driver.stream(0), driver.alloc(0, 16)
    driver.fill(address, 0, 16, stream)
    with pytest.raises(DriverError, match=what):
        driver.fill(wrong(driver, address), 0, 16, stream)


def test_freed_memory_is_not_used_again(fake):
    driver = fake()
    stream, address = driver.stream(0), driver.alloc(0, 16)
    driver.fill(address, 0, 16, stream)
    driver.free(0, address)
    with pytest.raises(DriverError, match="freed"):
        driver.fill(address, 0, 16, stream)
    with pytest.raises(DriverError, match="freed"):         # and not by the work that was asked for before
        driver.synchronize(stream)
    with pytest.raises(DriverError, match="freed"):
        driver.free(0, address)
    assert driver.alloc(0, 16) != address


def test_copies_do_not_overlap(fake):
    driver = fake()
    stream, address = driver.stream(0), driver.alloc(0, 16)
    driver.on_device(address + 8, address, 8, stream)
    with pytest.raises(DriverError, match="overlap"):
        driver.on_device(address + 4, address, 8, stream)


def test_copies_between_devices(fake):
    driver = fake(2)
    one, two, y = driver.stream(0), driver.stream(1), np.zeros(4, np.uint8)
    a, b, event = driver.alloc(0, 4), driver.alloc(1, 4), driver.event(0)
    driver.fill(a, 3, 4, one)
    driver.between((1, b), (0, a), 4, one)
    driver.record(event, one)
    driver.wait(two, event)
    driver.to_host(y, b, two)
    driver.synchronize(two)
    assert (y == 3).all()


def test_memory_ends(fake):
    driver = fake(memory=1000)
    driver.alloc(0, 600)
    with pytest.raises(OutOfMemory, match="device 0 has 400 of 1000 bytes left, 401 are asked for"):
        driver.alloc(0, 401)


@pytest.mark.parametrize("forbidden", [
    lambda d, s: d.alloc(0, 1), lambda d, s: d.pinned(1), lambda d, s: d.synchronize(s), lambda d, s: d.synchronize(d.other),
    lambda d, s: d.fill(d.address, 0, 1, d.other), lambda d, s: d.wait(s, d.outside), lambda d, s: d.begin_capture(d.other),
    lambda d, s: d.free(0, d.address)])
def test_what_a_capture_may_not_hold_voids_it(fake, forbidden):
    driver = fake()
    stream, driver.other, driver.address, driver.outside = driver.stream(0), driver.stream(0), driver.alloc(0, 8), driver.event(0)
    driver.record(driver.outside, driver.other)
    driver.begin_capture(stream)
    driver.fill(driver.address, 0, 8, stream)
    with pytest.raises(DriverError):
        forbidden(driver, stream)
    with pytest.raises(DriverError, match="the capture is void"):
        driver.end_capture(stream)
    driver.alloc(0, 8)


def test_other_threads_are_free_during_a_capture(fake):
    import threading

    driver = fake()
    driver.begin_capture(driver.stream(0))
    thread = threading.Thread(target=lambda: made.append(driver.alloc(0, 8)))
    made = []
    thread.start()
    thread.join()
    assert made


@pytest.mark.parametrize("joined", [True, False])
def test_a_capture_takes_in_other_streams_and_has_no_loose_ends(fake, joined):
    driver = fake()
    first, second, fork, join = driver.stream(0), driver.stream(0), driver.event(0), driver.event(0)
    a, b, y = driver.alloc(0, 4), driver.alloc(0, 4), np.zeros(8, np.uint8)
    driver.begin_capture(first)
    driver.fill(a, 1, 4, first)
    driver.record(fork, first)
    driver.wait(second, fork)
    driver.fill(b, 2, 4, second)
    driver.record(join, second)
    if not joined:
        with pytest.raises(DriverError, match="did not wait for"):
            driver.end_capture(first)
        return
    driver.wait(first, join)
    graph = driver.instantiate(driver.end_capture(first))
    driver.launch_graph(graph, first)
    driver.to_host(y[:4], a, first)
    driver.to_host(y[4:], b, first)
    driver.synchronize(first)
    assert y.tolist() == [1] * 4 + [2] * 4


def test_a_graph_whose_memory_is_freed(fake):
    driver = fake()
    stream, address = driver.stream(0), driver.alloc(0, 8)
    driver.begin_capture(stream)
    driver.fill(address, 0, 8, stream)
    graph = driver.instantiate(driver.end_capture(stream))
    driver.free(0, address)
    driver.launch_graph(graph, stream)
    with pytest.raises(DriverError, match="freed"):
        driver.synchronize(stream)
    driver.free_graph(graph)
    with pytest.raises(DriverError, match="was freed"):
        driver.launch_graph(graph, stream)


def test_the_time_between_events_that_were_not_reached(fake):
    driver = fake()
    stream, start, end = driver.stream(0), driver.event(0), driver.event(0)
    driver.record(start, stream)
    driver.record(end, stream)
    with pytest.raises(DriverError, match="wait for them"):
        driver.elapsed(start, end)
    driver.synchronize(stream)
    assert driver.elapsed(start, end) > 0


def test_kernels_do_not_leave_the_memory_that_is_theirs(fake, doubled):
    """Two buffers in one allocation: the bytes that a launch states keep a kernel from reading on into the next."""
    driver = fake(2)
    kernel, words = doubled
    function = driver.load(0, driver.object_code(kernel, (9, 0)), kernel.name)
    stream, block = driver.stream(0), driver.alloc(0, 4096)
    driver.fill(block, 0, 4096, stream)
    driver.to_device(block + 2048, np.array(words, np.int64), stream)
    pointers = [block, block + 512, block + 2048, block + 3072]
    driver.launch(function, 1, 32, pointers, [400, 400, 8 * len(words), 8], stream)
    driver.synchronize(stream)
    driver.launch(function, 1, 32, pointers, [396, 400, 8 * len(words), 8], stream)
    with pytest.raises(SimulationError, match="reads element 99"):
        driver.synchronize(stream)
    with pytest.raises(DriverError, match="takes 4 pointers, got 3"):
        driver.launch(function, 1, 32, pointers[1:], [], stream)
    with pytest.raises(DriverError, match="is loaded on device 0, its stream is of 1"):
        driver.launch(function, 1, 32, pointers, [], driver.stream(1))
