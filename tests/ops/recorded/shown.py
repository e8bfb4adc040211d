"""Tensors as text where nothing of them is shown: no elements, or none asked for."""


def cases(tf):
    found = {}
    for shape in ([], [0], [0, 3], [2, 0], [1, 0], [2, 0, 3], [0, 0], [2, 3, 0], [3], [2, 2], [1, 1], [2, 2, 2], [3, 1]):
        for count in (0, 1, 3, -1):
            found[f"{shape} {count}"] = lambda shape=shape, count=count: tf.strings.format("<{}>", tf.zeros(shape), summarize=count)
    found["text"] = lambda: tf.strings.format("<{}>", tf.constant("a"), summarize=0)
    return found
