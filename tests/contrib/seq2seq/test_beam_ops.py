"""gather_tree: parents that there are not."""
import pytest


@pytest.mark.parametrize("parents, message", [
    ([[[0, 0, 0]], [[0, -1, 1]], [[2, 1, 2]]], r"parent id -1 at \(batch, time, beam\) == \(0, 0, 1\)"),
    ([[[0, 0, 0]], [[0, 1, 1]], [[2, 1, 4]]], r"parent id 4 at \(batch, time, beam\) == \(0, 1, 2\)")])
def test_an_invalid_parent_is_named_with_the_time_of_the_step_that_it_should_be(tf, run, parents, message):
    steps = [[[1, 2, 3]], [[4, 5, 6]], [[7, 8, 9]]]
    with pytest.raises(tf.errors.InvalidArgumentError, match=message):
        run(tf.contrib.seq2seq.gather_tree(steps, parents, max_sequence_lengths=[3], end_token=10))
