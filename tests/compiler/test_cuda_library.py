"""Which matrix products cuBLASLt makes, and how much of what follows them."""

import pytest

from jitgraph.compiler import TARGETS, Options, compile
from jitgraph.compiler import show as shown
from jitgraph.compiler.place import DeviceStep

LIBRARY = Options(libraries=frozenset(["library_products"]))
WITHOUT = Options(libraries=LIBRARY.libraries, off=LIBRARY.libraries)


@pytest.fixture
def kernels(tf):
    """kernels(result or operation, options): those of its program for a device, that have a product."""

    def make(result, options=LIBRARY):
        graph = tf.get_default_graph()
        feeds = {op.outputs[0]: tuple(op.outputs[0].shape.as_list()) for op in graph.get_operations() if op.type == "Placeholder"}
        fetches, targets = ([], [result]) if isinstance(result, tf.Operation) else ([result], [])
        make.program = compile(graph, fetches, targets, feeds=feeds, target=TARGETS["cuda"], options=options)
        steps = [step for step in make.program.layout.steps if isinstance(step, DeviceStep)]
        make.launches = len(steps)
        return [step.kernel for step in steps if any(node.kind.name == "matmul" for node in step.kernel.nodes)]

    return make


def fed(tf, *shape, dtype="float32"):
    return tf.placeholder(dtype, shape)


def test_a_layer_is_one_product(tf, kernels):
    y = tf.nn.relu(tf.nn.bias_add(tf.matmul(fed(tf, 8, 16), fed(tf, 16, 12)), fed(tf, 12)))
    (kernel,) = kernels(y)
    assert kernels.launches == 1 and kernel.library.words() == "cuBLASLt with bias, relu"
    assert [kernel.params[k].name for k in (kernel.library.bias, kernel.library.y)] == ["x2", "y0"]
    assert kernel.source            # for sizes that the library declines


def test_a_residual_after_a_bias(tf, kernels):
    y = fed(tf, 8, 12) + tf.nn.bias_add(tf.matmul(fed(tf, 8, 16), fed(tf, 16, 12)), fed(tf, 12))
    (kernel,) = kernels(y)
    assert (kernel.library.beta, kernel.library.words()) == (1, "cuBLASLt with added up, bias")


@pytest.mark.parametrize("combine, sign, beta", [
    (lambda p, c: c + 0.5 * p, 1, 1), (lambda p, c: c - 0.5 * p, -1, 1), (lambda p, c: 0.5 * p - c, 1, -1)])
def test_a_scaled_product_added_to_something(tf, kernels, combine, sign, beta):
    (kernel,) = kernels(combine(tf.matmul(fed(tf, 4, 6), fed(tf, 6, 8)), fed(tf, 4, 8)))
    call = kernel.library
    assert (call.scaled, call.sign, call.beta) == (True, sign, beta) and call.sizes[-1][0] == "scalar"


def test_a_step_of_gradient_descent_changes_the_variable_in_place(tf, kernels):
    v = tf.Variable(tf.zeros([16, 12]))
    step = tf.assign_sub(v, 0.1 * tf.matmul(fed(tf, 8, 16), fed(tf, 8, 12), transpose_a=True)).op
    (kernel,) = kernels(step)
    assert kernel.library.c == kernel.library.y and kernel.params[kernel.library.y].use == "inout"


def test_factors_of_16_bits_are_rounded_by_the_library_and_biased_after_that(tf, kernels):
    x, w, b = fed(tf, 8, 16, dtype="float16"), fed(tf, 16, 12, dtype="float16"), fed(tf, 12, dtype="float16")
    (kernel,) = kernels(tf.nn.relu(tf.matmul(x, w)))
    assert (kernel.library.factor, kernel.library.result, kernel.library.relu) == ("f16", "f16", True)
    (kernel,) = kernels(tf.nn.bias_add(tf.matmul(x, w), b))         # rounded twice, as TensorFlow does
    assert kernel.library is None and kernels.launches == 1


@pytest.mark.parametrize("terms, launches, library", [(16, 1, False), (512, 2, True)])
def test_what_the_library_cannot_do_is_a_kernel_of_its_own_after_a_product_of_many_terms(tf, kernels, terms, launches, library):
    (kernel,) = kernels(tf.nn.sigmoid(tf.matmul(fed(tf, 8, terms), fed(tf, terms, 512))))
    assert kernels.launches == launches and (kernel.library is not None) == library


def test_a_product_that_is_wanted_itself_is_the_librarys(tf, kernels):
    (kernel,) = kernels(tf.matmul(fed(tf, 2, 3, 4, 5), fed(tf, 2, 3, 6, 5), transpose_b=True))
    assert kernel.library.turned == (False, True) and kernel.library.words() == "cuBLASLt"


def test_terms_are_not_shared_out_for_it(tf, kernels):
    y = tf.matmul(fed(tf, 8, 4096), fed(tf, 4096, 8))
    assert kernels(y)[0].library.sizes[2] == 4096 and kernels.launches == 1
    assert kernels(y, Options())[0].library is None and kernels.launches == 2


def test_rounding_to_tf32_is_asked_for(tf, kernels, monkeypatch):
    from jitgraph.compiler.options import present

    y = tf.matmul(fed(tf, 8, 8), fed(tf, 8, 8))
    assert not kernels(y)[0].library.short
    monkeypatch.setenv("JITGRAPH_TF32", "1")
    assert kernels(y, present(libraries=LIBRARY.libraries))[0].library.short
    z = tf.matmul(fed(tf, 8, 8, dtype="float64"), fed(tf, 8, 8, dtype="float64"))
    assert not kernels(z, present(libraries=LIBRARY.libraries))[0].library.short


def plan(program):
    return [step["because"] for step in shown.describe(program, lambda kernel: {})["plan"] if step["kind"] == "cuda"]


@pytest.mark.parametrize("options, told", [
    (LIBRARY, "by cuBLASLt with bias"),
    (Options(), "by this kernel: cuBLASLt was not found (jitgraph doctor says where it is looked for)"),
    (WITHOUT, "by this kernel: library_products is switched off")])
def test_the_plan_says_who_makes_a_product(tf, kernels, options, told):
    kernels(tf.nn.bias_add(tf.matmul(fed(tf, 8, 16), fed(tf, 16, 12)), fed(tf, 12)), options)
    assert plan(kernels.program) == [told]

