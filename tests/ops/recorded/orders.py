"""The orders of datasets that are shuffled by seeds, epoch after epoch, also through one another."""


def cases(tf):
    dataset = tf.data.Dataset
    found = {}

    def add(name, make, seed):
        def build():
            if seed:
                tf.set_random_seed(seed)
            return tf.compat.v1.data.make_one_shot_iterator(make().batch(1000)).get_next()

        found[f"{name}, graph seed {seed}"] = build

    for buffer in (2, 8):
        for again in (True, False):
            def mixed(count=8, seed=1, b=buffer, r=again):
                return dataset.range(count).shuffle(b, seed, r)

            def once_more(source, seed=2, b=3, r=again):
                return source.shuffle(b, seed, r)

            for seed in (None, 5):
                for name, make in {
                        "one": lambda m=mixed: m().map(lambda x: x + 1).repeat(3),
                        "fused": lambda m=mixed: m().repeat(3),
                        "two": lambda m=mixed, o=once_more: o(m()).take(8).repeat(3),
                        "three": lambda m=mixed, o=once_more: o(o(m()).map(lambda x: 2 * x), 4).take(8).repeat(3),
                        "of a part": lambda m=mixed, o=once_more: o(m().take(5)).take(8).repeat(3),
                        "of pairs": lambda m=mixed, o=once_more: o(dataset.zip((m(), m(8, 7))).map(
                            lambda x, y: 8 * x + y)).take(8).repeat(3),
                        "of two in a row": lambda m=mixed, o=once_more: o(m(4).concatenate(m(4, 7))).take(8).repeat(3),
                        "of epochs": lambda m=mixed, o=once_more: o(m(4).repeat(2)).take(8).repeat(3),
                        "of rows": lambda m=mixed, o=once_more: o(m().batch(2)).repeat(3),
                        "of kept": lambda m=mixed, o=once_more: o(m().cache()).take(8).repeat(3),
                        "of interleaved": lambda m=mixed, o=once_more: o(m(3).interleave(
                            lambda x: mixed(5, 9), 2)).take(15).repeat(3)}.items():
                    add(f"{name}, {buffer} at a time, again {again}", make, seed)
    return found
