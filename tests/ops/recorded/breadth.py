"""Ops that few programs use: rows in place, orders of dimensions, packed bits, sound, n-grams, pools with windows as tensors."""
import numpy as np


def arrays(tf, found):
    raw = tf.raw_ops
    x = np.arange(12, dtype=np.float32).reshape(4, 3)
    for name in ("Update", "Add", "Sub"):
        found["Inplace" + name] = lambda name=name: getattr(raw, "Inplace" + name)(
            x=tf.constant(x), i=[1, 3], v=tf.constant(-x[:2]))
    found["DataFormatDimMap"] = lambda: [raw.DataFormatDimMap(x=[0, 1, 2, 3, -1, -4]),
                                         raw.DataFormatDimMap(x=[0, 1], src_format="NHWC", dst_format="HWNC")]
    found["DataFormatVecPermute"] = lambda: [raw.DataFormatVecPermute(x=x) for x in (
        [1, 2, 3, 4], [[1, 2], [3, 4], [5, 6], [7, 8]])]
    packed = np.arange(32).reshape(2, 16) % 5
    found["CompareAndBitpack"] = lambda: [raw.CompareAndBitpack(input=tf.constant(packed, d), threshold=tf.constant(2, d))
                                          for d in (tf.float32, tf.int32, tf.int8)]
    found["ScatterNdNonAliasingAdd"] = lambda: raw.ScatterNdNonAliasingAdd(
        input=tf.constant(x), indices=[[1], [1]], updates=tf.constant(x[:2]))
    def of_updates():
        updates = tf.constant(x[:2])
        return tf.gradients(raw.ScatterNdNonAliasingAdd(input=tf.constant(x), indices=[[1], [1]], updates=updates), updates)

    found["ScatterNdNonAliasingAdd_gradient"] = of_updates
    found["DeepCopy"] = lambda: raw.DeepCopy(x=tf.constant(x))


def sound(tf, found):
    samples = np.sin(np.arange(40)).reshape(20, 2).astype(np.float32)
    found["encode_wav"] = lambda: tf.io.encode_base64(tf.audio.encode_wav(tf.constant(samples), 8000))
    found["encode_wav_too_loud"] = lambda: tf.io.encode_base64(tf.audio.encode_wav(
        tf.constant([[1.5], [-1.5], [0.99999], [0.1]]), 44100))
    for channels, count in ((-1, -1), (1, 25), (3, 5)):
        found["decode_wav_%d_%d" % (channels, count)] = lambda channels=channels, count=count: list(tf.audio.decode_wav(  # noqa: UP031
            tf.audio.encode_wav(tf.constant(samples), 8000), channels, count))
    found["decode_wav_of_nothing"] = lambda: tf.audio.decode_wav(b"")[0]
    for squared in (False, True):
        found["AudioSpectrogram_%s" % squared] = lambda squared=squared: tf.raw_ops.AudioSpectrogram(  # noqa: UP031
            input=tf.constant(samples[:, :1]), window_size=8, stride=4, magnitude_squared=squared)


def strings(tf, found):
    words = [["a", "b", "c"], ["d", "e", "f"]]
    for key, options in (("plain", {}), ("padded", {"pad_values": "P"}), ("sides", {"pad_values": ("L", "R"), "padding_width": 1}),
                         ("short", {"preserve_short_sequences": True})):
        for width in (1, 2, 3, 4):
            if key == "plain" and width == 4:
                continue
            found["ngrams_%s_%d" % (key, width)] = lambda options=options, width=width: tf.strings.ngrams(  # noqa: UP031
                tf.constant(words), width, **options)
    for pads in (0, 1, -1):
        found["StringNGrams_%d" % pads] = lambda pads=pads: list(tf.raw_ops.StringNGrams(  # noqa: UP031
            data=["a", "b", "c", "d"], data_splits=tf.constant([0, 3, 4], tf.int64), separator=" ", ngram_widths=[2, 3],
            left_pad="L", right_pad="R", pad_width=pads, preserve_short_sequences=True))


def pools(tf, found):
    x = np.random.RandomState(0).randn(1, 5, 4, 2).astype(np.float32)

    def pooled(padding, gradient):
        value = tf.constant(x)
        y = tf.raw_ops.MaxPoolV2(input=value, ksize=[1, 2, 2, 1], strides=[1, 2, 1, 1], padding=padding)
        return tf.gradients(y * y, value) if gradient else y

    for padding in ("SAME", "VALID"):
        found["MaxPoolV2_" + padding] = lambda padding=padding: pooled(padding, False)
        found["MaxPoolV2_gradient_" + padding] = lambda padding=padding: pooled(padding, True)


def nn(tf, found):
    table = [[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]

    def sparse(values, shape, dtype):
        indices = [[0, 0], [0, 1], [2, 0]] if len(shape) == 2 else [[0, 0, 0], [0, 1, 0], [1, 1, 1]]
        return tf.SparseTensor(indices, tf.constant(values, dtype), shape)

    lookup = tf.nn.safe_embedding_lookup_sparse
    found["safe_embedding"] = lambda: lookup(tf.constant(table), sparse([0, 2, -1], [3, 2], tf.int64))
    found["safe_embedding_default"] = lambda: lookup([tf.constant(table)], sparse([0, 2, 1], [3, 2], tf.int64), sparse(
        [1.0, 2.0, -1.0], [3, 2], tf.float32), default_id=1, combiner="sum")
    found["safe_embedding_weights"] = lambda: lookup(tf.constant(table), sparse([0, 2, 1], [3, 2], tf.int64), sparse(
        [1.0, 2.0, -1.0], [3, 2], tf.float32))
    found["safe_embedding_3d"] = lambda: lookup(tf.constant(table), sparse([0, 2, 1], [2, 2, 2], tf.int64))
    x = np.arange(32, dtype=np.float32).reshape(1, 4, 4, 2)
    for name in ("max_pool_v2", "avg_pool_v2"):
        for shape in ([1, 16, 2], [1, 4, 4, 2], [1, 2, 4, 2, 2]):
            found["%s_%d" % (name, len(shape))] = lambda name=name, shape=shape: getattr(tf.nn, name)(  # noqa: UP031
                tf.reshape(tf.constant(x), shape), 2, 2, "SAME")
    found["conv_transpose"] = lambda: tf.nn.conv_transpose(tf.constant(x), tf.ones([2, 2, 3, 2]), [1, 8, 8, 3], 2)
    for padding in ("SAME", "VALID"):
        found["with_space_to_batch_" + padding] = lambda padding=padding: tf.nn.with_space_to_batch(
            tf.constant(x), [1, 2], padding, lambda a, n, p: tf.nn.conv2d(a, tf.ones([2, 2, 2, 1]), [1] * 4, p), [2, 2, 2, 1])
    found["compute_average_loss"] = lambda: tf.nn.compute_average_loss(tf.constant([1.0, 2.0, 3.0]), sample_weight=[1.0, 2.0, 3.0])
    found["scale_regularization_loss"] = lambda: tf.nn.scale_regularization_loss(tf.constant([1.0, 2.0]))

    def batch_scatter():
        v = tf.Variable(np.zeros((2, 3)))
        with tf.control_dependencies([v.initializer]):
            updates = tf.identity(tf.constant([[1.0, 2.0], [3.0, 4.0]], tf.float64))
        return tf.batch_scatter_update(v, [[0, 1], [2, 0]], updates)

    found["batch_scatter_update"] = batch_scatter
    image = np.random.RandomState(2).rand(1, 5, 6, 2)
    for mode in ("REFLECT", "SYMMETRIC"):
        for padding in ("SAME", "VALID"):
            found["FusedPadConv2D_%s_%s" % (mode, padding)] = lambda mode=mode, padding=padding: tf.raw_ops.FusedPadConv2D(  # noqa: UP031
                input=tf.constant(image), paddings=[[0, 0], [1, 1], [2, 1], [0, 0]], mode=mode,
                filter=tf.ones([2, 3, 2, 1], tf.float64), strides=[1, 2, 1, 1], padding=padding)
    for corners in (False, True):
        found["FusedResizeAndPadConv2D_%s" % corners] = lambda corners=corners: tf.raw_ops.FusedResizeAndPadConv2D(  # noqa: UP031
            input=tf.constant(image, tf.float32), size=[7, 4], paddings=[[0, 0], [1, 1], [1, 1], [0, 0]],
            filter=tf.ones([2, 2, 2, 1]), resize_align_corners=corners, mode="REFLECT", strides=[1, 1, 1, 1], padding="SAME")
    for length in (2, 4, 8):
        found["DecodePaddedRaw_%d" % length] = lambda length=length: tf.raw_ops.DecodePaddedRaw(  # noqa: UP031
            input_bytes=[b"abcdef", b"x"], fixed_length=length, out_type=tf.int16)


def cases(tf):
    found = {}
    for part in (arrays, sound, strings, pools, nn):
        part(tf, found)
    return found
