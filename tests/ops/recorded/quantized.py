"""Arithmetic of quantized numbers, their ranges, their activations and windows: whole numbers, so bit for bit."""
import numpy as np

RNG = np.random.RandomState(0)
BYTES = RNG.randint(0, 256, (2, 5, 4, 3)).astype(np.uint8)
FILTER = RNG.randint(0, 256, (3, 2, 3, 2)).astype(np.uint8)
MATRIX = RNG.randint(0, 256, (4, 3)).astype(np.uint8)
OTHER = RNG.randint(0, 256, (3, 5)).astype(np.uint8)
WIDE = (RNG.randn(3, 7) * 5e8).astype(np.int32)
NEAR = RNG.randint(-60000, 90000, (3, 7)).astype(np.int32)
RANGES = ((-1.0, 3.0), (0.0, 255.0), (-6.5, 6.25))
PLAIN = {"qint8": "int8", "quint8": "uint8", "qint32": "int32"}


def cases(tf):
    raw = tf.raw_ops

    def as_quantized(array):
        return tf.bitcast(tf.constant(array), {"uint8": tf.quint8, "int8": tf.qint8, "int32": tf.qint32}[array.dtype.name])

    images, matrix, channel = (lambda: as_quantized(BYTES)), (lambda: as_quantized(MATRIX)), BYTES[0, 0, 0]

    def plain(results):
        first, *rest = results
        return [tf.bitcast(first, getattr(tf, PLAIN[first.dtype.name])), *rest]

    def ends(names, *ranges):
        return {f"{side}_{name}": bound for name, one in zip(names, ranges) for side, bound in zip(("min", "max"), one)}

    def of_input(low, high):
        return dict(input_min=low, input_max=high)

    found = {}
    for a in RANGES:
        for b in RANGES:
            xy = ends("xy", a, b)
            found[f"mul {a} {b}"] = lambda xy=xy: plain(raw.QuantizedMul(x=images(), y=as_quantized(channel), **xy))
            found[f"mul by one {a} {b}"] = lambda xy=xy: plain(raw.QuantizedMul(x=images(), y=as_quantized(channel[0]), **xy))
            found[f"add {a} {b}"] = lambda xy=xy: plain(raw.QuantizedAdd(x=images(), y=as_quantized(channel), **xy))
            found[f"add one {a} {b}"] = lambda xy=xy: plain(raw.QuantizedAdd(x=matrix(), y=as_quantized(channel[0]), **xy))
            found[f"add equal {a} {b}"] = lambda xy=xy: plain(raw.QuantizedAdd(x=matrix(), y=as_quantized(MATRIX[::-1].copy()),
                                                                              **xy))
            found[f"bias {a} {b}"] = lambda a=a, b=b: plain(raw.QuantizedBiasAdd(
                input=as_quantized(BYTES), bias=as_quantized(BYTES[1, 0, 0]), out_type=tf.qint32, **ends(("input", "bias"), a, b)))
            for turned in (False, True):
                found[f"matmul {a} {b} {turned}"] = lambda a=a, b=b, t=turned: plain(raw.QuantizedMatMul(
                    a=as_quantized(MATRIX.T.copy() if t else MATRIX), b=as_quantized(OTHER.T.copy() if t else OTHER),
                    transpose_a=t, transpose_b=t, **ends("ab", a, b)))
            for padding in ("SAME", "VALID"):
                found[f"conv {a} {b} {padding}"] = lambda a=a, b=b, p=padding: plain(tf.nn.quantized_conv2d(
                    as_quantized(BYTES), as_quantized(FILTER), *a, *b, strides=[1, 2, 2, 1], padding=p))
            found[f"concat {a} {b}"] = lambda a=a, b=b: plain(tf.quantization.quantized_concat(
                1, [as_quantized(BYTES), as_quantized(BYTES[:, :2])], [a[0], b[0]], [a[1], b[1]]))
            found[f"concat 32 {a} {b}"] = lambda a=a, b=b: plain(tf.quantized_concat(
                0, [as_quantized(WIDE), as_quantized(NEAR)], [a[0], b[0]], [a[1], b[1]]))
        for padding in ("SAME", "VALID"):
            how = dict(ksize=[1, 2, 3, 1], strides=[1, 1, 2, 1], padding=padding)
            found[f"max pool {a} {padding}"] = lambda a=a, how=how: plain(tf.nn.quantized_max_pool(as_quantized(BYTES), *a, **how))
            found[f"avg pool {a} {padding}"] = lambda a=a, how=how: plain(tf.nn.quantized_avg_pool(as_quantized(BYTES), *a, **how))
        for array, kind in ((BYTES, tf.quint8), (WIDE, tf.qint32), (NEAR, tf.qint32)):
            one = f"{array.shape} {a}"
            found[f"relu {one}"] = lambda a=a, x=array, k=kind: plain(raw.QuantizedRelu(
                features=as_quantized(x), min_features=a[0], max_features=a[1], out_type=k))
            found[f"relu 6 {one}"] = lambda a=a, x=array, k=kind: plain(raw.QuantizedRelu6(
                features=as_quantized(x), min_features=a[0], max_features=a[1], out_type=k))
            found[f"reshape {one}"] = lambda a=a, x=array: plain(raw.QuantizedReshape(
                tensor=as_quantized(x), shape=[-1], **of_input(*a)))
        for name, array in (("wide", WIDE), ("near", NEAR)):
            found[f"down {name} {a}"] = lambda a=a, x=array: plain(raw.QuantizeDownAndShrinkRange(
                input=as_quantized(x), out_type=tf.quint8, **of_input(*a)))
            found[f"range {name} {a}"] = lambda a=a, x=array: raw.RequantizationRange(input=as_quantized(x), **of_input(*a))
            for kind in (tf.quint8, tf.qint8):
                for low, high in ((-0.5, 2.0), (0.0, 0.125), (0.5, 1.0), (0.0, -1.0), (0.0, 0.0)):
                    found[f"again {name} {a} {kind.name} {low}, {high}"] = lambda a=a, x=array, k=kind, b=low, c=high: plain(
                        raw.Requantize(input=as_quantized(x), requested_output_min=b, requested_output_max=c, out_type=k,
                                       **of_input(*a)))
        for how in ({}, {"align_corners": True}, {"half_pixel_centers": True}):
            for name, array in (("bytes", BYTES), ("wide", np.tile(WIDE[None, :, :, None], (2, 1, 1, 2))),
                                ("floats", BYTES.astype(np.float32))):
                def resized(x=array, a=a, how=how):
                    given = tf.constant(x) if x.dtype == np.float32 else as_quantized(x)
                    images, low, high = raw.QuantizedResizeBilinear(images=given, size=[7, 9], min=a[0], max=a[1], **how)
                    return [images, low, high] if x.dtype == np.float32 else plain([images, low, high])
                found[f"resize {name} {a} {how}"] = resized
        for how in ({}, {"output_range_given": True, "given_y_min": -1.0, "given_y_max": 1.5}, {"min_separation": 10.0},
                    {"output_range_given": True, "given_y_min": 1.0, "given_y_max": 1.0}):
            found[f"instance norm {a} {how}"] = lambda a=a, how=how: plain(raw.QuantizedInstanceNorm(
                x=as_quantized(BYTES), x_min=a[0], x_max=a[1], **how))
        for scaled in (False, True):
            def normalized(a=a, scaled=scaled):
                given = {}
                ranges = (a, (-1.0, 1.0), (0.0, 4.0), (-2.0, 1.0), (0.0, 2.0))
                for i, (name, one) in enumerate(zip(("t", "m", "v", "beta", "gamma"), ranges)):
                    given[name] = as_quantized(BYTES if name == "t" else BYTES[0, i % 5, i % 4])
                    given[name + "_min"], given[name + "_max"] = one
                return plain(raw.QuantizedBatchNormWithGlobalNormalization(
                    out_type=tf.qint32, variance_epsilon=0.01, scale_after_normalization=scaled, **given))
            found[f"batch norm {a} {scaled}"] = normalized
    found["empty range"] = lambda: plain(raw.QuantizedMul(x=matrix(), y=matrix(), **ends("xy", (1.0, 1.0), (0.0, 1.0))))
    found["empty second range"] = lambda: plain(raw.QuantizedAdd(x=matrix(), y=as_quantized(MATRIX),
                                                                **ends("xy", (0.0, 1.0), (2.0, 1.0))))
    found["wrong matrices"] = lambda: plain(raw.QuantizedMatMul(a=matrix(), b=matrix(), **ends("ab", (0.0, 1.0), (0.0, 1.0))))
    found["a range of two"] = lambda: plain(raw.QuantizedRelu(features=matrix(), min_features=[0.0, 1.0], max_features=1.0))
    for name, how in (("two strides", dict(strides=[1, 2, 1, 1])), ("wide taps", dict(strides=[1] * 4, dilations=[1, 2, 2, 1])),
                      ("strides of channels", dict(strides=[1, 1, 1, 2]))):
        found[name] = lambda how=how: plain(tf.nn.quantized_conv2d(as_quantized(BYTES), as_quantized(FILTER), 0.0, 1.0, 0.0, 1.0,
                                                                   padding="SAME", **how))
    found["wrong axis"] = lambda: plain(tf.quantized_concat(2, [as_quantized(MATRIX)] * 2, [0.0] * 2, [1.0] * 2))
    return found
