"""Quantization: simulated with fixed and learned ranges, there and back, to integers and from them."""
import numpy as np

X = (np.random.RandomState(0).randn(4, 5) * 5).astype(np.float32)
WEIGHTS = np.random.RandomState(1).randn(4, 5).astype(np.float32)
PLAIN = {"qint8": "int8", "quint8": "uint8", "qint16": "int16", "quint16": "uint16", "qint32": "int32"}


def cases(tf):
    def fake(low, high, bits, narrow):
        x, a, b = tf.constant(X), tf.constant(low), tf.constant(high)
        lows, highs = tf.constant([low, low * 0.9, low, low, low * 1.1]), tf.constant([high, high * 1.2, high, high, high * 0.95])
        fixed = tf.fake_quant_with_min_max_args(x, low, high, bits, narrow)
        learned = tf.fake_quant_with_min_max_vars(x, a, b, bits, narrow)
        each = tf.fake_quant_with_min_max_vars_per_channel(x, lows, highs, bits, narrow)
        return [fixed, learned, each, tf.gradients(fixed, x, WEIGHTS), tf.gradients(learned, [x, a, b], WEIGHTS),
                tf.gradients(each, [x, lows, highs], WEIGHTS)]

    def integers(kind, mode, low, high):
        values, a, b = tf.quantize_v2(tf.constant(X), low, high, getattr(tf, kind), mode=mode)
        return [tf.dequantize(values, a, b, mode=mode), a, b, tf.bitcast(values, getattr(tf, PLAIN[kind]))]

    found = {}
    for low, high in ((-6.0, 6.0), (-1.0, 3.0), (0.1, 3.0), (-3.0, -0.5), (0.0, 10.0)):
        for bits in (2, 8, 16):
            for narrow in (False, True):
                found[f"fake {low} {high} {bits} {narrow}"] = (
                    lambda a=low, b=high, n=bits, r=narrow: fake(a, b, n, r))
    for signed in (True, False):
        for given in (True, False):
            for mode in ("HALF_TO_EVEN", "HALF_UP"):
                found[f"there and back {signed} {given} {mode}"] = (
                    lambda s=signed, g=given, m=mode: tf.quantization.quantize_and_dequantize(
                        X, -4.0, 5.0, signed_input=s, range_given=g, narrow_range=s, round_mode=m, num_bits=4))
    for kind in sorted(PLAIN):
        for mode in ("MIN_COMBINED", "MIN_FIRST", "SCALED"):
            if mode != "MIN_FIRST" or kind in ("qint8", "quint8"):
                for low, high in ((-6.0, 6.0), (-1.0, 3.0), (0.0, 10.0)):
                    found[f"{kind} {mode} {low}"] = (
                        lambda k=kind, m=mode, a=low, b=high: integers(k, m, a, b))
    return found
