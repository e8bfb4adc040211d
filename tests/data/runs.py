"""What iterators do over several runs, compared with TensorFlow 1.15: steps whose values or errors are recorded.

data/tf115_runs.json is written under TensorFlow 1.15 by ``python tests/data/runs.py``.
"""
import json
import os
import shutil
import tempfile

import numpy as np

PROGRAMS = {
    "initialised again": """
        it = D.range(6).shuffle(6, 1).make_initializable_iterator(); x = it.get_next()
        run(x); run(it.initializer); many(x, 7); run(it.initializer); many(x, 3); run(it.initializer); many(x, 7)""",
    "random functions initialised again": """
        it = D.range(3).map(lambda v: tf.random_uniform([], seed=5)).make_initializable_iterator(); x = it.get_next()
        run(it.initializer); many(x, 4); run(it.initializer); many(x, 4)""",
    "two iterators over one dataset": """
        d = D.range(4).map(lambda v: tf.random_uniform([], seed=5)).shuffle(4, 2)
        a = d.make_one_shot_iterator().get_next(); b = d.make_one_shot_iterator().get_next(); many(a, 2); many(b, 5); many(a, 3)""",
    "placeholder": """
        n = tf.placeholder(tf.int64, []); it = D.range(n).batch(2).make_initializable_iterator(); x = it.get_next()
        run(it.initializer, {n: 3}); many(x, 3); run(it.initializer, {n: 1}); many(x, 2); D.range(n).make_one_shot_iterator()""",
    "variables": """
        v = tf.get_variable("v", [], tf.int64, initializer=tf.constant_initializer(10), use_resource=True)
        it = D.range(3).map(lambda k: k + v).make_initializable_iterator(); x = it.get_next(); run(v.initializer)
        run(it.initializer)
        run(x); run(v.assign(100)); run(x); D.range(3).map(lambda k: k + v).make_one_shot_iterator()""",
    "from_structure": """
        it = tf.data.Iterator.from_structure(tf.int64, []); x = it.get_next(); a = it.make_initializer(D.range(2)); run(x)
        b = it.make_initializer(D.range(5, 9)); run(a); many(x, 3); run(b); many(x, 2); run(a); many(x, 1); it.initializer
        it.make_initializer(D.range(3).map(lambda v: tf.to_float(v))); it.make_initializer(D.range(3).batch(2))""",
    "handles": """
        h = tf.placeholder(tf.string, []); x = tf.data.Iterator.from_string_handle(h, tf.int64, []).get_next()
        a = D.range(3).make_one_shot_iterator(); b = D.range(9, 11).make_initializable_iterator()
        ha = session.run(a.string_handle()); hb = session.run(b.string_handle()); run(b.initializer)
        run(x, {h: ha}); run(x, {h: hb}); run(x, {h: ha}); run(x, {h: hb}); run(x, {h: hb}); run(x, {h: ha}); run(x, {h: ha})""",
    "errors go on": """
        x = D.from_tensor_slices([1., 0., 2.]).map(lambda v: tf.check_numerics(1. / v, "bad")).make_one_shot_iterator().get_next()
        run(x); kind(x); run(x); kind(x); kind(x)""",
    "functions that end the input": """
        def f(k):
            if k >= 3: raise StopIteration
            return k
        def g(k): return tf.py_func(f, [k], tf.int64)
        def each(d, n=5):
            x = d.make_one_shot_iterator().get_next()
            return [kind(x) for _ in range(n)]
        each(D.range(5).map(g).batch(2)); each(D.range(5).map(g, num_parallel_calls=2).batch(2))
        each(D.range(5).filter(lambda k: g(k) >= 0)); each(D.range(5).flat_map(lambda k: D.from_tensors(g(k))))
        each(D.range(5).interleave(lambda k: D.from_tensors(g(k)), 2)); each(D.range(5).apply(E.map_and_batch(g, 2)))
        each(D.range(5).apply(E.scan(np.int64(0), lambda s, k: (s, g(k)))))
        each(D.range(5).apply(E.take_while(lambda k: g(k) >= 0)))
        each(D.range(5).apply(E.group_by_window(g, lambda k, d: d.batch(2), 2)))""",
    "errors and what is left": """
        def f(k):
            if k == 2: raise ValueError("x")
            return k
        m = D.range(6).map(lambda k: tf.py_func(f, [k], tf.int64))
        def each(d, n=7):
            x = d.make_one_shot_iterator().get_next()
            return [kind(x) for _ in range(n)]
        each(m.batch(2)); each(m.batch(4)); each(m.batch(2, drop_remainder=True)); each(m.prefetch(1).batch(2)); each(m.take(3))
        each(m.skip(3)); each(m.skip(2)); each(D.range(6).apply(E.map_and_batch(lambda k: tf.py_func(f, [k], tf.int64), 2)))
        each(m.apply(lambda d: d)); each(m.batch(2).apply(E.ignore_errors())); each(m.apply(E.ignore_errors()).batch(2))""",
    "errors of batches": """
        x = D.range(1, 4).map(lambda k: tf.fill([k], k)).batch(2).make_one_shot_iterator().get_next(); kind(x)
        y = D.range(3).map(lambda k: tf.fill([k], k)).padded_batch(3, [1]).make_one_shot_iterator().get_next(); kind(y)
        D.range(3).padded_batch(3, [1]); kind(D.range(3).batch(0).make_one_shot_iterator().get_next())""",
    "errors of functions": """
        kind(D.range(2).map(lambda k: tf.py_func(lambda v: 1 // v, [k], tf.int64)).make_one_shot_iterator().get_next())
        D.range(2).map(lambda k: object()); D.range(2).filter(lambda k: k); D.range(2).flat_map(lambda k: k); D.zip([D.range(2)])
        D.range(2).concatenate(D.from_tensors("a")); D.from_tensor_slices(3); D.from_tensor_slices(([1, 2], [1])); D.range()
        D.from_generator(3, tf.int32); D.range(2).apply(lambda d: 3)""",
    "generators that do not suit": """
        def wrong(value): return D.from_generator(lambda: iter([value]), tf.int32, []).make_one_shot_iterator().get_next()
        kind(wrong("a")); kind(wrong([1, 2])); kind(wrong(2)); kind(wrong(2.5))
        def fails():
            yield 1
            raise KeyError("x")
        x = D.from_generator(fails, tf.int32).make_one_shot_iterator().get_next(); run(x); kind(x)""",
    "generators anew": """
        x = D.from_generator(lambda: iter([1, 2]), tf.int32, []).repeat(2).make_one_shot_iterator().get_next(); many(x, 5)""",
    "files": """
        files = write(a=b"1\\n22\\r\\n", b=b"3"); x = tf.data.TextLineDataset(files).make_one_shot_iterator().get_next(); many(x, 4)
        y = tf.data.TextLineDataset(files[0] + ".no").make_one_shot_iterator().get_next(); kind(y); kind(y)
        z = tf.data.FixedLengthRecordDataset(files, 1, 1).make_one_shot_iterator().get_next(); many(z, 7)
        kind(tf.data.FixedLengthRecordDataset(files[0], 4).make_one_shot_iterator().get_next())
        w = tf.data.TextLineDataset(files, num_parallel_reads=2).make_one_shot_iterator().get_next(); many(w, 4)
        f = D.list_files(os.path.join(folder, "*"), shuffle=False).map(lambda p: tf.strings.substr(p, -1, 1))
        f = f.make_one_shot_iterator()
        many(f.get_next(), 3); kind(D.list_files(os.path.join(folder, "no*")).make_initializable_iterator().initializer)
        g = D.list_files(os.path.join(folder, "*"), seed=3).map(lambda p: tf.strings.substr(p, -1, 1)).make_one_shot_iterator()
        many(g.get_next(), 3)""",
    "records": """
        name = os.path.join(folder, "r"); w = tf.python_io.TFRecordWriter(name); w.write(b"one"); w.write(b"")
        w.write(b"x" * 99); w.close()
        x = tf.data.TFRecordDataset(name).map(tf.strings.length).make_one_shot_iterator().get_next(); many(x, 4)
        cut(name); y = tf.data.TFRecordDataset(name).make_one_shot_iterator().get_next(); run(y); run(y); kind(y); kind(y)
        out = E.TFRecordWriter(name + "2").write(D.from_tensor_slices(["a", "bc"])); run(out)
        many(tf.data.TFRecordDataset([name + "2"], num_parallel_reads=1).make_one_shot_iterator().get_next(), 3)""",
    "tables in files": """
        files = write(a=b'x,y,z\\n1,2.5,"a,b"\\n3,,c\\n', b=b'x,y,z\\n5,6.5,d\\n')
        x = E.CsvDataset(files, [tf.int32, [0.5], tf.string], header=True).make_one_shot_iterator().get_next(); many(x, 4)
        y = E.CsvDataset(files, [[7], [""]], header=True, select_cols=[0, 2]).make_one_shot_iterator().get_next(); many(y, 4)
        z = E.CsvDataset(files, [tf.float32, tf.float32, tf.string], header=True).make_one_shot_iterator().get_next()
        run(z); kind(z)""",
    "examples in files": """
        name = os.path.join(folder, "e"); w = tf.python_io.TFRecordWriter(name)
        def number(k): return tf.train.Feature(int64_list=tf.train.Int64List(value=[k]))
        def example(k): return tf.train.Example(features=tf.train.Features(feature={"k": number(k), "l": number(9)}))
        for k in range(5): w.write(example(k).SerializeToString())
        w.close()
        features = {"k": tf.FixedLenFeature([], tf.int64), "l": tf.FixedLenFeature([], tf.int64)}
        x = E.make_batched_features_dataset(name, 2, features, shuffle=False, num_epochs=1, label_key="l").make_one_shot_iterator()
        many(x.get_next(), 4)
        y = E.make_batched_features_dataset(name, 3, features, shuffle_seed=4).make_one_shot_iterator()
        many(y.get_next(), 4)
        p = tf.data.TFRecordDataset(name).batch(5).apply(E.parse_example_dataset({"k": tf.VarLenFeature(tf.int64)}))
        run(p.make_one_shot_iterator().get_next())""",
    "cache in a file": """
        name = os.path.join(folder, "cache"); seen = []
        d = D.range(3).map(lambda k: (tf.py_func(lambda v: seen.append(int(v)) or v, [k], tf.int64), tf.as_string(k))).cache(name)
        it = d.make_initializable_iterator(); x = it.get_next(); run(it.initializer); many(x, 4); run(it.initializer)
        many(x, 4); seen""",
    "optionals": """
        it = D.range(1).make_one_shot_iterator(); o = E.get_next_as_optional(it); has = o.has_value(); value = o.get_value()
        run([has, value]); run(has); kind(value); run(E.Optional.from_value(3).get_value())""",
    "single elements": """
        run(E.get_single_element(D.range(5).batch(9))); kind(E.get_single_element(D.range(2)))
        kind(E.get_single_element(D.range(0)))
        run(E.cardinality(D.range(7).batch(2))); run(E.cardinality(D.range(7).repeat()))
        run(E.cardinality(D.range(7).filter(lambda k: k > 1)))
        run(E.cardinality(D.range(4).repeat(3).skip(2).take(9).shard(2, 0)))
        run(E.cardinality(D.zip((D.range(3), D.range(5)))))
        def windows(n, *how): return run(E.cardinality(D.range(n).window(*how)))
        [windows(0, 1), windows(5, 2, None, 1, True), windows(5, 3, 1, 1, True), windows(5, 3, 2, 2, True)]
        [windows(5, 3, 2, 2, False), windows(10, 2, 5, 1, True), windows(10, 2, 5, 1, False)]
        for n, size, shift, stride, drop in ((0, 1, None, 1, False), (5, 2, None, 1, True), (5, 3, 1, 1, True), (5, 3, 2, 2, True),
                                             (5, 3, 2, 2, False), (10, 2, 5, 1, True), (10, 2, 5, 1, False)):
            run(E.cardinality(D.range(n).window(size, shift, stride, drop)))""",
    "options": """
        o = tf.data.Options(); o.experimental_optimization.shuffle_and_repeat_fusion = False; o.experimental_deterministic = 3
        x = D.range(5).shuffle(5, 1).repeat(2).with_options(o).make_one_shot_iterator().get_next(); many(x, 11)
        p = tf.data.Options(); p.experimental_deterministic = True; q = tf.data.Options(); q.experimental_deterministic = False
        D.range(2).with_options(p).with_options(q); D.range(2).with_options(p).options().experimental_deterministic; p.nothing""",
    "sparse": """
        s = tf.SparseTensor([[0, 0], [1, 2]], [1, 2], [2, 3])
        x = D.from_tensor_slices(s).batch(2).make_one_shot_iterator().get_next(); run(x)
        y = D.from_tensor_slices([["a", "b"]]).map(lambda v: {"s": tf.SparseTensor([[0]], v[:1], [2]), "n": 1}).batch(1)
        y = y.make_one_shot_iterator().get_next(); run(y["s"])""",
    "shared names": """
        a = D.range(5).make_initializable_iterator(shared_name="s"); b = D.range(5).make_initializable_iterator(shared_name="s")
        run(a.initializer); run(a.get_next()); run(b.get_next())""",
    "datasets of nodes": """
        raw = tf.raw_ops; types = dict(output_types=[tf.int64], output_shapes=[[]])
        def spec(shaped):
            parts = [tf.TensorSpec(s, t) for t, s in zip(shaped["output_types"], shaped["output_shapes"])]
            return parts[0] if len(parts) == 1 else tuple(parts)
        def elements(variant, count, shaped=types):
            it = tf.data.make_initializable_iterator(E.from_variant(variant, spec(shaped))); x = it.get_next()
            start = run(it.initializer)
            return start or many(x, count)
        def given(op, dataset, count, shaped=types, **more):
            return elements(getattr(raw, op)(input_dataset=dataset._variant_tensor, **more, **shaped), count, shaped)
        given("SamplingDataset", D.range(20), 20, rate=.5, seed=3, seed2=4)
        given("SamplingDataset", D.range(20), 9, rate=.2, seed=1, seed2=0)
        given("SleepDataset", D.range(2), 3, sleep_microseconds=10)
        given("ExperimentalSleepDataset", D.range(2), 3, sleep_microseconds=10)
        batches = dict(output_types=[tf.int64], output_shapes=[[None]])
        given("SlidingWindowDataset", D.range(9), 5, batches, window_size=3, window_shift=2, window_stride=2)
        given("SlidingWindowDataset", D.range(9), 3, batches, window_size=0, window_shift=2, window_stride=2)
        given("NonSerializableDataset", D.range(2), 3)
        given("ExperimentalUniqueDataset", D.range(4).map(lambda k: k % 2), 3)
        given("ExperimentalUnbatchDataset", D.range(4).batch(3), 5); given("ExperimentalIgnoreErrorsDataset", D.range(2), 3)
        given("ExperimentalMaxIntraOpParallelismDataset", D.range(2), 3, max_intra_op_parallelism=2)
        pool = raw.ThreadPoolHandle(num_threads=2, display_name="p"); given("ThreadPoolDataset", D.range(2), 3, thread_pool=pool)
        elements(raw.ChooseFastestDataset(input_datasets=[D.range(3)._variant_tensor] * 2, num_experiments=2, **types), 4)
        run(raw.ExperimentalDatasetCardinality(input_dataset=D.range(7)._variant_tensor))
        wrapped = raw.UnwrapDatasetVariant(input_handle=raw.WrapDatasetVariant(input_handle=D.range(7)._variant_tensor))
        run(raw.DatasetCardinality(input_dataset=wrapped))
        files = write(a=b"", b=b"", c=b""); found = raw.MatchingFilesDataset(patterns=os.path.join(folder, "[ac]"))
        found = E.from_variant(found, tf.TensorSpec([], tf.string)).map(lambda p: tf.strings.substr(p, -1, 1))
        it = tf.data.make_initializable_iterator(found); run(it.initializer); many(it.get_next(), 3)""",
    "states": """
        it = D.range(6).shuffle(3).repeat(2).batch(2).make_initializable_iterator(); x = it.get_next()
        one = E.make_saveable_from_iterator(it); one.name; [s.name for s in one.specs]; saver = tf.train.Saver([one])
        path = os.path.join(folder, "s")
        def saved(): saver.save(session, path, write_meta_graph=False)
        run(it.initializer); many(x, 2); saved(); tf.train.list_variables(path)
        session.close(); session = tf.Session(); session.run(it.initializer); saver.restore(session, path)
        [session.run(x).tolist() for _ in range(4)]; session.run(x)""",
    "states of one and another": """
        a = D.range(9).make_initializable_iterator(); b = D.range(9).make_initializable_iterator(); x = a.get_next()
        state = tf.raw_ops.SerializeIterator(resource_handle=a._iterator_resource)
        copy = tf.raw_ops.DeserializeIterator(resource_handle=b._iterator_resource, serialized=state)
        run(copy); run([a.initializer, b.initializer]); many(x, 3); run(copy); run(b.get_next()); run(x)
        wrong = tf.raw_ops.DeserializeIterator(resource_handle=b._iterator_resource, serialized=D.range(3)._variant_tensor)
        kind(wrong); tf.raw_ops.DeserializeIterator(resource_handle=b._iterator_resource, serialized=tf.constant(3))
        one = D.range(4).make_one_shot_iterator(); y = one.get_next(); s = tf.train.Saver([E.make_saveable_from_iterator(one)])
        many(y, 3); p = s.save(session, os.path.join(folder, "o")); run(y); kind(y); s.restore(session, p); run(y)""",
    "states of functions": """
        def state(d):
            it = d.make_initializable_iterator(); session.run(it.initializer)
            return run(tf.raw_ops.SerializeIterator(resource_handle=it._iterator_resource))
        state(D.range(3).map(lambda k: tf.random_uniform([], seed=3)))
        state(D.range(3).filter(lambda k: tf.random_uniform([]) > .5))
        state(D.range(3).map(lambda k: tf.py_func(lambda v: v, [k], tf.int64)))
        state(D.from_generator(lambda: iter([1]), tf.int32))
        state(D.range(3).map(lambda k: tf.cond(k > 1, lambda: tf.to_float(k), lambda: tf.random_normal([]))))""",
    "statistics": """
        def iterated(d, repeated=1):
            it = d.make_initializable_iterator(); x = it.get_next()
            for _ in range(repeated):
                session.run(it.initializer)
                while True:
                    try: session.run(x)
                    except tf.errors.OutOfRangeError: break
        def shown(a): return [(v.tag, v.histo.num, v.histo.sum, list(v.histo.bucket), list(v.histo.bucket_limit)) for v in
                              tf.Summary.FromString(session.run(a.get_summary())).value]
        a = E.StatsAggregator(); o = tf.data.Options(); o.experimental_stats.aggregator = a; run(a.get_summary())
        sizes = D.from_tensor_slices([1, 5, 900]).map(lambda n: tf.fill([n], "ab")).apply(E.bytes_produced_stats("sizes"))
        iterated(sizes); shown(a); iterated(sizes.with_options(o), 2); shown(a); o.experimental_stats.prefix = "p"
        iterated(D.range(4).apply(E.bytes_produced_stats("n")).batch(3).with_options(o))
        [name for name, *_ in shown(a) if name.endswith("n") and "::" in name]
        b = E.StatsAggregator(); q = tf.data.Options(); q.experimental_stats.aggregator = b; q.experimental_stats.prefix = "q"
        iterated(D.range(9).apply(E.latency_stats("t")).with_options(q))
        shown(b)[0][:2]; D.range(3).with_options(o).make_one_shot_iterator(); o.experimental_stats.aggregator = 3""",
    "tables": """
        t = tf.contrib.lookup.index_table_from_tensor(["a", "b"]); it = D.from_tensor_slices(["b", "a", "c"]).map(t.lookup)
        it = it.make_initializable_iterator(); x = it.get_next(); run(tf.tables_initializer()); run(it.initializer); many(x, 4)""",
}


def plain(value):
    if hasattr(value, "_fields"):
        return [plain(part) for part in value]
    if isinstance(value, (list, tuple)):
        return [plain(part) for part in value]
    if isinstance(value, dict):
        return {key: plain(part) for key, part in value.items()}
    if isinstance(value, (np.ndarray, np.generic)):
        return [str(np.asarray(value).dtype), plain(np.asarray(value).tolist())]
    return value.decode("latin-1") if isinstance(value, bytes) else value if isinstance(value, (int, float, str)) else None


def statements(program):
    """Its lines as statements, to be run one by one."""
    import ast
    import textwrap

    tree = ast.parse(textwrap.dedent(program))
    for node in tree.body:
        body = ast.Expression(node.value) if isinstance(node, ast.Expr) else ast.parse("")
        if not isinstance(node, ast.Expr):
            body.body = [node]
        mode = "eval" if isinstance(node, ast.Expr) else "exec"
        yield mode == "eval", compile(ast.fix_missing_locations(body), "<program>", mode)


def result(tf, name):
    """What each expression of a program gives: its value, or the class of its error."""
    tf.reset_default_graph()
    tf.set_random_seed(7)
    folder = tempfile.mkdtemp()
    found = []
    try:
        with tf.Session() as session:

            def run(fetches, feeds=None):
                try:
                    return plain(session.run(fetches, feeds))
                except tf.errors.OpError as error:
                    return type(error).__name__ + ": " + error.message.split(chr(10))[0][:60]

            def kind(fetches):
                try:
                    return plain(session.run(fetches))
                except tf.errors.OpError as error:
                    return type(error).__name__

            def write(**contents):
                for key, content in contents.items():
                    with open(os.path.join(folder, key), "wb") as file:
                        file.write(content)
                return [os.path.join(folder, key) for key in sorted(contents)]

            def cut(path):
                with open(path, "rb+") as file:
                    file.truncate(os.path.getsize(path) - 50)

            names = dict(tf=tf, D=tf.data.Dataset, E=tf.data.experimental, np=np, os=os, session=session, folder=folder, run=run,
                         kind=kind, write=write, cut=cut, many=lambda fetch, count: [run(fetch) for _ in range(count)])
            for is_value, code in statements(PROGRAMS[name]):
                try:
                    value = eval(code, names) if is_value else exec(code, names)
                    if is_value:
                        found.append(plain(value))
                except Exception as error:
                    found.append(type(error).__name__)
    finally:
        shutil.rmtree(folder)
    return json.loads(json.dumps(found))


if __name__ == "__main__":
    import sys

    import tensorflow

    tensorflow.logging.set_verbosity(tensorflow.logging.FATAL)
    expected = {name: result(tensorflow, name) for name in PROGRAMS if len(sys.argv) < 2 or name in sys.argv[1:]}
    if len(sys.argv) > 1:
        print(json.dumps(expected, indent=1))
        sys.exit()
    path = os.path.join(os.path.dirname(os.path.abspath(__file__)), "data", "tf115_runs.json")
    with open(path, "w") as file:
        json.dump(expected, file, sort_keys=True, indent=0)
