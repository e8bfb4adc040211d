"""Distributions leave behind what they do in TensorFlow: names, numbers of nodes, samples, densities, statistics, errors."""
from pathlib import Path

import pytest

from ..recorded import check, texts

HERE = Path(__file__).parent


@pytest.mark.parametrize("program", texts(HERE)[1])
def test_the_program_does_what_it_does_in_tensorflow(tf, program):
    check(tf, HERE, program)


@pytest.mark.parametrize("program", [text for text in texts(HERE)[1] if "tf.gradients" in text or "Categorical(logits=w)" in text])
def test_it_does_so_compiled(tf, program):
    check(tf, HERE, program, jit="always")


@pytest.mark.parametrize("build, error, text", [
    (lambda d: d.Bernoulli(), ValueError, "Must pass probs or logits, but not both."),
    (lambda d: d.Bernoulli(probs=[1, 0]), TypeError, "probs must having floating type."),
    (lambda d: d.Categorical(logits=[1.0], validate_args=True), ValueError, "must have at least 2 events"),
    (lambda d: d.Normal(0.0, 1.0).sample([[1, 2]]), ValueError, "Input is neither scalar nor vector."),
    (lambda d: d.Categorical(logits=[1.0, 2.0]).mean(), NotImplementedError, "mean is not implemented: Categorical"),
    (lambda d: d.kl_divergence(d.Normal(0.0, 1.0), d.Bernoulli(0.5)), NotImplementedError,
     r"No KL\(distribution_a \|\| distribution_b\) registered for distribution_a type Normal and distribution_b type Bernoulli"),
    (lambda d: d.RegisterKL(d.Normal, d.Normal)(print), ValueError, r"KL\(Normal \|\| Normal\) has already been registered to"),
    (lambda d: d.RegisterKL(d.Normal, d.Uniform)(3), TypeError, "kl_fn must be callable, received: 3")])
def test_errors_say_what_tensorflow_s_say(tf, build, error, text):
    with pytest.raises(error, match=text):
        build(tf.distributions)


def test_samples_are_differentiable_where_they_are_reparameterized(tf):
    d = tf.distributions
    loc, logits = tf.constant(1.0), tf.constant([1.0, 2.0])
    assert tf.gradients(d.Normal(loc, 2.0).sample(3), loc)[0] is not None
    assert tf.gradients(d.Categorical(logits=logits).sample(3), logits) == [None]
