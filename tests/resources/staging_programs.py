"""What goes in and out of staging areas and maps: run by both, see test_staging.py.

``python staging_programs.py`` prints TensorFlow's answers.
"""
import json

import numpy as np


def answers(tf, **session_options):
    """What each step gives: values, or the class and the message of an error."""
    raw, log = tf.raw_ops, []
    tf.reset_default_graph()
    x, key, at = tf.placeholder(tf.float32), tf.placeholder(tf.int64, []), tf.placeholder(tf.int32, [None])
    kinds = [tf.float32, tf.int32]
    values = [x, tf.cast(tf.reduce_sum(x), tf.int32)]
    area = dict(shared_name="a", dtypes=kinds)
    put, size = raw.Stage(values=values, shared_name="a"), raw.StageSize(**area)
    take, seen, clear = raw.Unstage(**area), raw.StagePeek(index=1, **area), raw.StageClear(**area)
    small = raw.Stage(values=[x], shared_name="small", memory_limit=10)
    full = dict(shared_name="full", capacity=1)
    last, first = raw.Stage(values=[x], **full), raw.Unstage(dtypes=[tf.float32], **full)
    with tf.Session(**session_options) as session:
        def step(fetch, **feeds):
            names = {"x": x, "key": key, "at": at}
            try:
                found = session.run(fetch, {names[name]: value for name, value in feeds.items()})
                flat = found if isinstance(found, (list, tuple)) else [found]
                log.append([None if one is None else np.asarray(one).tolist() for one in flat])
            except tf.errors.OpError as error:
                log.append([type(error).__name__, error.message.split("\n")[0]])

        for value in ([1.0, 2.0], 3.0, [[4.0]]):
            step([put], x=value)
        for fetch in ([size], list(seen), list(take), [size], list(take), [clear], [size]):
            step(fetch)
        step([small], x=[1.0, 2.0, 3.0])
        step([last], x=1.0)
        for value in (2.0, 3.0):
            step([last, *first], x=value)
        step(list(first))
        for prefix in ("Map", "OrderedMap"):
            def made(name, prefix=prefix, **given):
                return getattr(raw, prefix + name)(shared_name="m", **given)

            both = dict(dtypes=kinds)
            put_both = made("Stage", key=key, indices=[0, 1], values=values, **both)
            put_second = made("Stage", key=key, indices=[1], values=values[1:], **both)
            put_first = made("Stage", key=key, indices=[0], values=values[:1], **both)
            sizes = [made("Size", **both), made("IncompleteSize", **both)]
            two = list(made("Peek", key=key, indices=[0, 1], **both))
            taken = list(made("Unstage", key=key, indices=[0, 1], **both))
            one = list(made("Unstage", key=key, indices=[1], dtypes=[tf.int32]))
            any_ = made("UnstageNoKey", indices=[0, 1], **both)
            step([put_both], key=7, x=[1.0, 2.0])
            step(sizes)
            step(two, key=7)
            step([put_second], key=3, x=5.0)
            step(sizes)
            step([put_first], key=3, x=6.0)
            step(sizes)
            step([put_both], key=5, x=9.0)
            if prefix == "OrderedMap":
                step([any_.key, *any_.values])
            else:
                step(taken, key=3)
            step(one, key=7)
            step(one, key=7)
            step(sizes)
            step([made("Clear", **both)])
            step(sizes)
    return log


if __name__ == "__main__":
    import tensorflow

    print(json.dumps(answers(tensorflow)))
