"""Convolutions by cuDNN: the same descriptors on the FakeDriver, beside NumPy, and on the library where it is installed."""

import ctypes

import ml_dtypes
import numpy as np
import pytest

from jitgraph.compiler.primitives.convolutions import convolved, seen
from jitgraph.runtime.cuda import convolutions, cudnn, fake_cudnn
from jitgraph.runtime.cuda.convolutions import Convolution, Convolutions
from jitgraph.runtime.cuda.cudnn import Attribute, Descriptor, Kind, Type
from jitgraph.runtime.cuda.driver import DriverError
from jitgraph.runtime.cuda.installed import NotFound

from .drivers import OneDevice

RNG = np.random.default_rng(0)
DTYPES = {"f32": np.float32, "f64": np.float64, "f16": np.float16, "fb16": ml_dtypes.bfloat16}
PLACES = {"forward": 2, "input": 0, "filter": 1}
SIZES = {
    "taps that see zeros on all sides": ((2, 5, 6, 3), (5, 6, 4), (3, 3), (1, 1), (1, 1), (1, 1)),
    "steps, with more zeros after than before": ((2, 8, 6, 3), (4, 3, 4), (3, 3), (0, 0), (2, 2), (1, 1)),
    "steps that leave pixels unseen": ((1, 8, 8, 2), (4, 4, 3), (1, 1), (0, 0), (2, 2), (1, 1)),
    "gaps": ((1, 7, 6, 2), (7, 6, 3), (3, 3), (2, 2), (1, 1), (2, 2)),
    "sides that differ": ((2, 6, 7, 3), (4, 7, 2), (3, 1), (0, 0), (1, 1), (1, 1)),
}


def real():
    """The library itself.  Descriptors need a part of it that needs a driver's library."""
    try:
        library = cudnn.load()[0]
        convolutions.described(library, convolution())
    except (NotFound, DriverError) as error:
        pytest.skip(f"cuDNN: {error}")
    return library


def convolution(what="forward", sizes="taps that see zeros on all sides", element="f32", **given):
    return Convolution(what, *SIZES[sizes], element, **given)


class Bench(OneDevice):
    """A fake device with its library, and arrays brought there."""

    def __init__(self, driver):
        super().__init__(driver)
        self.library = driver.library(0, "library_convolutions")
        self.convolutions = Convolutions(self.library)
        self.workspace = driver.alloc(0, 4096)

    def ask(self, asked, at):
        self.convolutions.run(self.convolutions.prepare(asked, 0), at, self.workspace, self.stream)

    def run(self, asked, three):
        """What a convolution makes of two of images, filter and results."""
        place = PLACES[asked.what]
        at = [self.bring(np.full_like(array, np.nan) if k == place else array) for k, array in enumerate(three)]
        self.ask(asked, at)
        return self.taken(at[place], three[place].shape, three[place].dtype)


@pytest.fixture
def bench(fake):
    return Bench(fake())


def tensors(asked):
    """Images, filter and results of random numbers."""
    shapes = asked.images, (asked.results[2], *asked.taps, asked.images[3]), (asked.images[0], *asked.results)
    return [RNG.standard_normal(shape).astype(DTYPES[asked.element]) for shape in shapes]


def wanted(asked, three):
    """What NumPy gives in float64."""
    x, w, y = (array.astype(np.float64) for array in three)
    w, size, steps = np.moveaxis(w, 0, -1), asked.results[:2], (asked.strides, asked.dilations)
    framed = np.pad(x, [(0, 0), *zip(asked.before, asked.after), (0, 0)])
    if asked.what == "forward":
        return convolved(framed, w, size, *steps)
    if asked.what == "filter":
        taps = [np.einsum("nijc,nijo->oc", seen(framed, tap, size, *steps), y) for tap in np.ndindex(*asked.taps)]
        return np.stack(taps, 1).reshape(three[1].shape)
    framed[...] = 0
    for tap in np.ndindex(*asked.taps):
        seen(framed, tap, size, *steps)[...] += y @ w[tap].T
    (top, left), (_, height, width, _) = asked.before, asked.images
    return framed[:, top:top + height, left:left + width]


@pytest.mark.parametrize("sizes", SIZES)
@pytest.mark.parametrize("what", PLACES)
def test_convolutions_and_their_gradients(bench, what, sizes):
    asked = convolution(what, sizes)
    three = tensors(asked)
    np.testing.assert_allclose(bench.run(asked, three), wanted(asked, three), atol=2e-5)


@pytest.mark.parametrize("element, near", [("f64", 1e-13), ("f16", 0.02), ("fb16", 0.2)])
@pytest.mark.parametrize("what", PLACES)
def test_other_floats(bench, what, element, near):
    asked = convolution(what, element=element)
    three = tensors(asked)
    np.testing.assert_allclose(bench.run(asked, three).astype(np.float64), wanted(asked, three), atol=near)


def test_zeros_after_images_are_those_that_windows_see():
    after = [convolution(sizes=sizes).after for sizes in SIZES]
    assert after == [(1, 1), (1, 1), (0, 0), (2, 2), (0, 0)]


@pytest.mark.parametrize("element, short, engine", [("f32", False, 3), ("f32", True, 5), ("f16", False, 5), ("f64", False, 5)])
def test_an_engine_that_gives_the_same_bits_and_rounds_nothing_unasked(bench, element, short, engine):
    """Of four, engine 7 may give other bits at every run, 5 uses tensor cores, and 0 takes what no other does."""
    asked = convolution(element=element, short=short)
    bench.run(asked, tensors(asked))
    assert bench.library.convolved == [f"convolution_forward by engine {engine}"]


@pytest.mark.parametrize("sizes, engine", [("gaps", 1), ("steps, with more zeros after than before", 3)])
def test_no_engine_that_takes_zeros_after_images_for_those_before(bench, monkeypatch, sizes, engine):
    monkeypatch.setattr(fake_cudnn, "ENGINES", [(1, ()), (3, ())])
    asked = convolution("filter", sizes)
    bench.run(asked, tensors(asked))
    assert bench.library.convolved == [f"convolution_backward_filter by engine {engine}"]


def test_a_plan_that_needs_too_much_memory_is_not_followed(bench, monkeypatch):
    monkeypatch.setattr(convolutions, "WORKSPACE", 255)
    assert bench.convolutions.prepare(convolution(), 0) is None


def test_in_a_graph_as_often_as_it_is_launched(bench):
    asked, driver = convolution(), bench.driver
    three = tensors(asked)
    at = [bench.bring(array) for array in three]
    driver.synchronize(bench.stream)
    driver.begin_capture(bench.stream)
    bench.ask(asked, at)
    graph = driver.instantiate(driver.end_capture(bench.stream))
    assert bench.library.convolved == []
    for _ in range(2):
        driver.launch_graph(graph, bench.stream)
    np.testing.assert_allclose(bench.taken(at[2], three[2].shape, np.float32), wanted(asked, three), atol=2e-5)
    assert len(bench.library.convolved) == 2


def test_a_convolution_is_late_and_overwrites_its_workspace(bench):
    asked = convolution()
    at = [bench.bring(array) for array in tensors(asked)]
    bench.driver.to_device(bench.workspace, np.zeros(4096, np.uint8), bench.stream)
    bench.driver.synchronize(bench.stream)
    bench.ask(asked, at)
    assert not bench.library.convolved
    assert bench.taken(bench.workspace, 4096, np.uint8)[:256].all() and bench.library.convolved


def test_an_address_outside_of_its_memory_is_refused(bench):
    asked = convolution()
    x, w, y = tensors(asked)
    at = [bench.bring(array) for array in (x.ravel()[:-1], w, y)]
    with pytest.raises(DriverError, match="a tensor of cudnnBackendExecute: out of bounds"):
        bench.ask(asked, at)


@pytest.mark.parametrize("asked", [
    convolution()._replace(images=(0, 5, 6, 3)), convolution()._replace(element="f64", images=(2, 5, 6, 0)),
    convolution()._replace(results=(3, 6, 4))])          # too few rows, where the library would make five
def test_what_the_library_declines(bench, asked):
    assert bench.convolutions.prepare(asked, 0) is None


def test_a_library_that_does_not_start_declines_all(bench, monkeypatch):
    monkeypatch.setattr(bench.library, "cudnnCreate", lambda handle: 1001)
    assert bench.convolutions.prepare(convolution(), 0) is None


def test_a_status_says_what_to_do(bench, monkeypatch):
    asked = convolution()
    at = [bench.bring(array) for array in tensors(asked)]
    bench.convolutions.prepare(asked, 0)
    for status, told in ((3002, "no way for it: JITGRAPH_WITHOUT=library_convolutions"), (5001, "the GPU failed to run it")):
        monkeypatch.setattr(bench.library, "cudnnBackendExecute", lambda *given, status=status: status)
        with pytest.raises(DriverError, match=f"cudnnBackendExecute failed with unknown: .*{told}"):
            bench.ask(asked, at)


def test_descriptors_are_destroyed_when_nobody_has_them(bench):
    graph = convolutions.described(bench.library, convolution())
    assert len(bench.library._made) == 6        # three tensors, how they belong together, the operation, the graph
    del graph
    assert not bench.library._made


# on the library itself -----------------------------------------------------------------------------------------------
def libraries(fake, kind):
    return real() if kind == "real" else fake().library(0, "library_convolutions")


@pytest.mark.parametrize("kind", ["fake", "real"])
@pytest.mark.parametrize("element", DTYPES)
@pytest.mark.parametrize("what", PLACES)
def test_descriptors_are_taken(fake, kind, what, element):
    library = libraries(fake, kind)
    for sizes in SIZES:
        assert convolutions.described(library, convolution(what, sizes, element)).handle.value


@pytest.mark.parametrize("kind", ["fake", "real"])
def test_descriptors_hold_what_they_are_told(fake, kind):
    library = libraries(fake, kind)
    images = convolutions._tensor(library, convolution(), convolutions.IMAGES, (2, 3, 5, 6))
    assert images.get(Attribute.TENSOR_STRIDES, Type.INT64, 8) == [90, 1, 18, 3]
    assert images.get(Attribute.TENSOR_DATA_TYPE, Type.DATA_TYPE, 1) == [0]
    assert images.count(Attribute.TENSOR_DIMENSIONS, Type.INT64) == 4


@pytest.mark.parametrize("kind", ["fake", "real"])
def test_sizes_that_do_not_belong_together_are_refused(fake, kind):
    library = libraries(fake, kind)
    with pytest.raises(DriverError, match="cudnnBackendFinalize failed with CUDNN_STATUS_.*JITGRAPH_WITHOUT"):
        convolutions.described(library, convolution()._replace(results=(3, 6, 4)))


@pytest.mark.parametrize("kind", ["fake", "real"])
def test_nothing_is_asked_of_a_descriptor_that_is_not_finished(fake, kind):
    library = libraries(fake, kind)
    with pytest.raises(DriverError, match="cudnnBackendGetAttribute failed with CUDNN_STATUS_NOT_INITIALIZED"):
        Descriptor(library, Kind.TENSOR).get(Attribute.TENSOR_STRIDES, Type.INT64, 4)


def test_the_library_says_its_version_and_that_it_needs_a_gpu():
    library = real()
    assert cudnn.version(library).startswith("9.")
    with pytest.raises(DriverError, match="cudnnCreate failed with CUDNN_STATUS_.*is a GPU there"):
        cudnn.call(library, "cudnnCreate", ctypes.byref(ctypes.c_void_p()))
