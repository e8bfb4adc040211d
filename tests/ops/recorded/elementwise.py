"""Element-by-element ops at special points: infinities, NaN, zeros, ties, halves, the ends of the integers."""
import numpy as np

INF, NAN = float("inf"), float("nan")
REAL = [0.0, 1.0, -1.0, 0.5, -0.5, 1.5, 2.5, -2.5, INF, -INF, NAN, 3.7, -3.7, 30.0, -30.0, 1e-5]
COMPLEX = [0, 1, -1.5, 1j, -2j, 1 + 1j, -0.5 + 2j, 3 - 4j]
FLOATS = ("float16", "float32", "float64")
ANALYTIC = (*FLOATS, "complex64", "complex128")
REALS = (*FLOATS, "int32", "int64")
SMALL_INTS = ("int8", "int16", "uint8", "uint16")
INTEGERS = (*SMALL_INTS, "int32", "int64")

ONE = {
    ANALYTIC: "Cos Cosh Exp Log Reciprocal Sigmoid Sin Sinh Square Tanh",
    (*ANALYTIC, "int32", "int64"): "Neg Sign Square",
    REALS: "Abs Relu Relu6",
    FLOATS: "Acos Acosh Asin Asinh Atan Atanh BesselI0e BesselI1e Ceil Digamma Elu Erf Erfc Expm1 Floor IsFinite IsInf IsNan "
            "LeakyRelu Lgamma Log1p Rint Round Selu Softplus Softsign Tan",
    ("complex64", "complex128"): "Angle ComplexAbs Conj Imag Real Rsqrt Sqrt",
    ("bool",): "LogicalNot",
    INTEGERS: "Invert PopulationCount",
}
TWO = {
    (*ANALYTIC, "int32", "int64"): "AddV2 Mul NotEqual Sub",
    REALS: "FloorDiv FloorMod Greater GreaterEqual Less LessEqual Maximum Minimum SquaredDifference",
    (*FLOATS, "int8", "int16", "uint8"): "AddV2 Equal Mul Less Sub ReluGrad Relu6Grad",
    ("uint16",): "Mul Sub",
    ANALYTIC: "RealDiv",
    FLOATS: "Atan2 DivNoNan EluGrad MulNoNan Pow SeluGrad SigmoidGrad SoftplusGrad SoftsignGrad SqrtGrad TanhGrad Xdivy Xlogy "
            "ReciprocalGrad",
    ("float32", "float64"): "ApproximateEqual Igamma Igammac NextAfter TruncateMod Zeta Polygamma",
    INTEGERS: "BitwiseAnd BitwiseOr BitwiseXor",
    ("int32", "int64"): "TruncateMod",
    (*SMALL_INTS, "int32", "int64"): "TruncateDiv",
    ("bool",): "LogicalAnd LogicalOr",
}
DIVISIONS = {"FloorDiv", "FloorMod", "TruncateDiv", "TruncateMod", "RealDiv"}


def values(op, dtype):
    kind = np.dtype(dtype).kind
    if kind == "b":
        return np.array([True, False])
    if kind in "iu":
        info = np.iinfo(dtype)
        return np.array(sorted({0, 1, 2, 3, 7, info.max, info.max - 1, info.min, info.min + 1} |
                               ({-1, -2, -3, -7} if kind == "i" else set())), dtype)
    if kind == "c":
        return np.array(COMPLEX, dtype)
    return np.array(REAL, dtype)


def pairs(op, dtype):
    """All pairs; without divisions by zero and the one that overflows, which end the process in TensorFlow."""
    first = values(op, dtype)
    x, y = (v.ravel() for v in np.meshgrid(first, first))
    if op in DIVISIONS and x.dtype.kind in "iu":
        info = np.iinfo(dtype)
        # the quotient by the lowest number overflows on the way to its result in TensorFlow's FloorDiv
        fits = (y != 0) & ((info.min == 0) | (y != info.min) & ~((x == info.min) & (y == -1)))
        if op == "FloorDiv":            # nor may the sum of both overflow
            fits &= abs(x.astype(float)) + abs(y.astype(float)) < info.max
        x, y = x[fits], y[fits]
    if op in DIVISIONS | {"Xdivy"} and x.dtype.kind == "c":
        x, y = x[y != 0], y[y != 0]
    if op in ("Zeta", "Polygamma", "Igamma", "Igammac"):
        x, y = x[np.isfinite(x) & np.isfinite(y)], y[np.isfinite(x) & np.isfinite(y)]
        fits = (x > (1 if op == "Zeta" else 0)) & (y > 0) & (x < 20)
        x, y = x[fits], y[fits]
        x = np.floor(x) if op == "Polygamma" else x
    return x, y


def one(tf, op, dtype):
    x = values(op, dtype)
    if dtype == "float16" and op in ("Asinh", "Cosh", "Sinh"):     # 0 at NaN in TensorFlow
        x = x[~np.isnan(x)]
    if op in ("Log", "Reciprocal") and x.dtype.kind == "c":
        x = x[x != 0]
    outputs = {"complex64": "float32", "complex128": "float64"}
    extra = {"Tout": getattr(tf, outputs[dtype])} if op in ("Angle", "ComplexAbs", "Imag", "Real") else {}
    return getattr(tf.raw_ops, op)(**{ARGUMENT.get(op, "x"): tf.constant(x)}, **extra)


ARGUMENT = {"Angle": "input", "Conj": "input", "Imag": "input", "Real": "input", "Elu": "features", "LeakyRelu": "features",
            "Relu": "features", "Relu6": "features", "Selu": "features", "Softplus": "features", "Softsign": "features"}
ARGUMENTS = {"EluGrad": ("gradients", "outputs"), "SeluGrad": ("gradients", "outputs"), "Igamma": ("a", "x"),
             "Igammac": ("a", "x"), "Polygamma": ("a", "x"), "Zeta": ("x", "q"), "NextAfter": ("x1", "x2"),
             "Atan2": ("y", "x"), "ReluGrad": ("gradients", "features"), "Relu6Grad": ("gradients", "features"),
             "SoftplusGrad": ("gradients", "features"), "SoftsignGrad": ("gradients", "features")}


def two(tf, op, dtype):
    x, y = pairs(op, dtype)
    default = ("y", "dy") if op.endswith("Grad") else ("x", "y")
    return getattr(tf.raw_ops, op)(**dict(zip(ARGUMENTS.get(op, default), (tf.constant(x), tf.constant(y)))))


def cases(tf):
    found = {}
    for table, build in ((ONE, one), (TWO, two)):
        for dtypes, ops in table.items():
            for op in ops.split():
                found[op + "_" + dtypes[0] + str(len(dtypes))] = lambda op=op, dtypes=dtypes, build=build: [
                    build(tf, op, dtype) for dtype in dtypes]
    for dtype in FLOATS[1:]:
        def complex_of(dtype=dtype):
            x, y = pairs("Complex", dtype)
            return tf.raw_ops.Complex(real=tf.constant(x), imag=tf.constant(y),
                                      Tout=tf.complex64 if dtype == "float32" else tf.complex128)

        found["Complex_" + dtype] = complex_of
    found["Cast"] = lambda: [tf.cast(tf.constant(values("", a)[:9]), b) for a in (*ANALYTIC, *INTEGERS, "bool")
                             for b in (*ANALYTIC, "int64", "bool") if not (a.startswith("f") and b.startswith("i"))]
    found["LeftShift"] = lambda: [tf.bitwise.left_shift(tf.constant([1, -1, 7], d), tf.constant([0, 3, 2], d)) for d in
                                  ("int8", "int16", "int32", "int64")]
    found["RightShift"] = lambda: [tf.bitwise.right_shift(tf.constant([1, -1, 7], d), tf.constant([0, 3, 2], d)) for d in
                                   ("int8", "int16", "int32", "int64")]
    return found
