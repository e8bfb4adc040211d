"""Steps of linear algebra and of windows: products, einsum, decompositions, convolutions, pools, images."""

from .elementwise import into
from .program import WHOLE, Term, Unsuitable, fixed, joined, product
from .steps import step


@step("linear", 4)
def matrix_product(w):
    x = w.tamed(w.pick((*WHOLE, "int32"), low=2, high=4, most=50_000), 100)
    ta, tb = w.chance(0.3), w.chance(0.3)
    m, k = (x.dims[-1], x.dims[-2]) if ta else x.dims[-2:]
    n = fixed(w.choice([1, 1, 2, 3, 5, 16, 17])) if w.chance(0.8) else w.size()
    if max(k) * max(n) * max(m) > 5_000_000 or max(k) * max(n) > 300_000:
        raise Unsuitable
    batch = list(x.dims[:-2])
    y = w.leaf(x.dtype, (*batch, *((n, k) if tb else (k, n))), -2, 2)
    grain = None if None in (x.grain, y.grain) else x.grain + y.grain
    w.emit(
        "matmul",
        [x, y],
        {"transpose_a": ta, "transpose_b": tb},
        x.dtype,
        (*batch, m, n),
        x.bound * y.bound * max(*k, 1),
        grain,
    )


@step("linear", 2)
def tensordot(w):
    x = w.tamed(w.pick(WHOLE, low=1, high=3, most=5000), 10)
    y = w.leaf(x.dtype, (x.dims[-1], fixed(w.integer(1, 3))), -1, 1)
    w.emit(
        "tensordot",
        [x, y, [[x.rank - 1], [0]]],
        dtype=x.dtype,
        dims=(*x.dims[:-1], y.dims[1]),
        bound=x.bound * max(*x.dims[-1], 1),
    )


@step("linear", 3)
def einsum(w):
    sizes = {c: fixed(w.integer(1, 4)) if w.chance(0.8) else w.size() for c in "abcde"}
    letters = list("abcde")[: w.integer(1, 5)]
    count = w.integer(1, 3)
    inputs = ["".join(w.random.sample(letters, w.integer(1, len(letters)))) for _ in range(count)]
    used = sorted(set("".join(inputs)))
    out = "".join(c for c in w.random.sample(used, len(used)) if w.chance(0.6))
    terms = [w.leaf("float32", [sizes[c] for c in one], -2, 2) for one in inputs]
    if product(max(sizes[c]) for c in used) > 200_000:
        raise Unsuitable
    w.emit("einsum", [f"{','.join(inputs)}->{out}", *terms], dtype="float32", dims=[sizes[c] for c in out], bound=1e5)


def well_conditioned(w, n, batch=(), dtype="float64"):
    """Matrices with a strong diagonal."""
    x = w.leaf(dtype, (*batch, fixed(n), fixed(n)), -1, 1)
    eye = w.emit("eye", [n], {"dtype": {"dtype": dtype}}, dtype, (fixed(n), fixed(n)), 1)
    more = w.emit("multiply", [eye, 3.0 * n], dtype=dtype, dims=eye.dims, bound=3 * n)
    return w.emit("add", [x, more], dtype=dtype, dims=x.dims, bound=4 * n)


@step("linear", 2)
def decomposed(w):
    n, batch = w.integer(1, 4), w.shape(0, 1)
    x = well_conditioned(w, n, batch)
    name = w.choice(
        [
            "matrix_inverse",
            "matrix_determinant",
            "matrix_solve",
            "cholesky",
            "matrix_triangular_solve",
            "svd",
            "eigh",
            "qr",
            "logdet",
            "lstsq",
            "trace",
        ]
    )
    dims = x.dims
    if name in ("cholesky", "eigh", "logdet"):
        turned = w.emit("matrix_transpose", [x], dtype=x.dtype, dims=dims, bound=x.bound)
        x = w.emit("add", [x, turned], dtype=x.dtype, dims=dims, bound=2 * x.bound)
    if name in ("matrix_solve", "matrix_triangular_solve", "lstsq"):
        right = w.leaf(x.dtype, (*batch, fixed(n), fixed(w.integer(1, 3))))
        w.emit({"lstsq": "matrix_solve_ls"}.get(name, name), [x, right], dtype=x.dtype, dims=right.dims, bound=100)
    elif name in ("svd", "eigh"):
        made = w.emit(
            "self_adjoint_eigvals" if name == "eigh" else "svd",
            [x],
            {} if name == "eigh" else {"compute_uv": False},
            x.dtype,
            (*batch, fixed(n)),
            100,
        )
        w.emit("reduce_sum", [made], dtype=x.dtype, dims=(), bound=1000)
    elif name in ("matrix_determinant", "trace", "logdet"):
        w.emit({"logdet": "linalg.logdet"}.get(name, name), [x], dtype=x.dtype, dims=batch, bound=1e5)
    elif name == "qr":
        made = [Term(w.name(), x.dtype, x.dims, 10), Term(w.name(), x.dtype, x.dims, 100)]
        w.emit("qr", [x], terms=made)
        w.emit("matmul", made, dtype=x.dtype, dims=x.dims, bound=100)
    else:
        w.emit(name, [x], dtype=x.dtype, dims=x.dims, bound=100)


def windows(n, k, stride, dilation, same):
    k = (k - 1) * dilation + 1
    return -(-n // stride) if same else max(-(-(n - k + 1) // stride), 0)


@step("windows", 4)
def convolved(w):
    name = w.choice(["conv2d", "conv2d", "depthwise", "transpose", "conv1d", "separable"])
    kh, kw, c, out = w.integer(1, 3), w.integer(1, 3), w.integer(1, 4), w.integer(1, 4)
    h, v = w.integer(3, 9), w.integer(3, 9)
    batch = w.size() if not w.large else fixed(w.integer(0, 3))
    if name in ("depthwise", "separable") and 0 in batch:
        batch = fixed(1)  # of no images, TensorFlow gives a gradient of the filter that it never wrote
    same = w.chance(0.5)
    pad = "SAME" if same else "VALID"
    s = w.integer(1, 2)
    x = w.leaf("float32", (batch, fixed(h), fixed(v), fixed(c)), -2, 2)
    after = lambda n, k, d=1: fixed(windows(n, k, s, d, same))
    if name == "conv2d":
        d = w.integer(1, 2) if s == 1 and min(h, v) >= 5 else 1
        k = w.leaf("float32", [fixed(n) for n in (kh, kw, c, out)], -1, 1)
        w.emit(
            "nn.conv2d",
            [x, k],
            {"strides": [1, s, s, 1], "padding": pad, "dilations": [1, d, d, 1]},
            "float32",
            (batch, after(h, kh, d), after(v, kw, d), fixed(out)),
            100,
            4,
        )
    elif name == "depthwise":
        k = w.leaf("float32", [fixed(n) for n in (kh, kw, c, out)], -1, 1)
        w.emit(
            "nn.depthwise_conv2d",
            [x, k, [1, s, s, 1], pad],
            dtype="float32",
            dims=(batch, after(h, kh), after(v, kw), fixed(c * out)),
            bound=100,
            grain=4,
        )
    elif name == "separable":
        k = w.leaf("float32", [fixed(n) for n in (kh, kw, c, 2)], -1, 1)
        p = w.leaf("float32", [fixed(n) for n in (1, 1, 2 * c, out)], -1, 1)
        w.emit(
            "nn.separable_conv2d",
            [x, k, p, [1, s, s, 1], pad],
            dtype="float32",
            dims=(batch, after(h, kh), after(v, kw), fixed(out)),
            bound=100,
        )
    elif name == "conv1d":
        y = w.leaf("float32", (batch, fixed(h), fixed(c)), -2, 2)
        k = w.leaf("float32", [fixed(n) for n in (kh, c, out)], -1, 1)
        w.emit("nn.conv1d", [y, k, s, pad], dtype="float32", dims=(batch, after(h, kh), fixed(out)), bound=100, grain=4)
    else:
        if len(set(batch)) > 1 or batch[0] == 0:
            raise Unsuitable
        k = w.leaf("float32", [fixed(n) for n in (kh, kw, out, c)], -1, 1)
        big = [n * s if same else n * s + max(m - s, 0) for n, m in ((h, kh), (v, kw))]
        shape = [batch[0], *big, out]
        w.emit(
            "nn.conv2d_transpose",
            [x, k, shape, [1, s, s, 1], pad],
            dtype="float32",
            dims=[fixed(n) for n in shape],
            bound=100,
            grain=4,
        )


@step("windows", 3)
def pooled(w):
    name = w.choice(["nn.max_pool", "nn.avg_pool"])
    batch = w.size() if not w.large else fixed(w.integer(0, 3))
    h, v, c = w.integer(1, 9), w.integer(1, 9), w.integer(1, 4)
    same = w.chance(0.5)
    k, s = w.integer(1, 3), w.integer(1, 3)
    if not same and k > min(h, v):
        raise Unsuitable
    x = w.leaf("float32", (batch, fixed(h), fixed(v), fixed(c)))
    dims = (batch, fixed(windows(h, k, s, 1, same)), fixed(windows(v, k, s, 1, same)), fixed(c))
    w.emit(
        name,
        [x, [1, k, k, 1], [1, s, s, 1], "SAME" if same else "VALID"],
        dtype="float32",
        dims=dims,
        bound=x.bound,
        grain=x.grain if "max" in name else None,
    )


@step("windows", 1)
def volumes(w):
    x = w.leaf(
        "float32", (fixed(w.integer(1, 2)), *(fixed(w.integer(3, 4)) for _ in range(3)), fixed(w.integer(1, 2))), -2, 2
    )
    same = w.chance(0.5)
    size = [fixed(windows(d[0], 2, 1, 1, same)) for d in x.dims[1:4]]
    if w.chance(0.5):
        k = w.leaf("float32", (fixed(2), fixed(2), fixed(2), x.dims[-1], fixed(2)), -1, 1)
        w.emit(
            "nn.conv3d",
            [x, k],
            {"strides": [1] * 5, "padding": "SAME" if same else "VALID"},
            "float32",
            (x.dims[0], *size, fixed(2)),
            100,
            4,
        )
    else:
        w.emit(
            w.choice(["nn.max_pool3d", "nn.avg_pool3d"]),
            [x, [1, 2, 2, 2, 1], [1] * 5, "SAME" if same else "VALID"],
            dtype="float32",
            dims=(x.dims[0], *size, x.dims[-1]),
            bound=x.bound,
        )


@step("windows", 1)
def with_bias(w):
    x = w.pick(("float32",), low=2, high=4)
    b = w.leaf("float32", x.dims[-1:])
    w.emit(
        "nn.bias_add",
        [x, b],
        dtype="float32",
        dims=x.dims,
        bound=x.bound + b.bound,
        grain=None if x.grain is None else max(x.grain, b.grain),
    )


@step("windows", 1)
def batch_normalised(w):
    x = w.leaf("float32", (fixed(w.integer(2, 4)), fixed(w.integer(1, 4)), fixed(w.integer(1, 4)), fixed(w.integer(1, 4))))
    scale, offset = w.leaf("float32", x.dims[-1:]), w.leaf("float32", x.dims[-1:])
    made = [
        Term(w.name(), "float32", x.dims, 20),
        Term(w.name(), "float32", scale.dims, 4),
        Term(w.name(), "float32", scale.dims, 20),
    ]
    w.emit("nn.fused_batch_norm", [x, scale, offset], terms=made)


@step("windows", 1)
def resized(w):
    x = w.leaf("float32", (fixed(w.integer(1, 2)), fixed(w.integer(1, 6)), fixed(w.integer(1, 6)), fixed(w.integer(1, 3))))
    size = [w.integer(1, 8), w.integer(1, 8)]
    name = w.choice(["image.resize_bilinear", "image.resize_nearest_neighbor", "image.resize_bicubic", "image.resize_area"])
    w.emit(name, [x, size], {"align_corners": w.chance(0.4)}, "float32", (x.dims[0], *map(fixed, size), x.dims[3]), 20)


@step("windows", 1)
def images(w):
    x = w.leaf("float32", (fixed(2), fixed(w.integer(2, 5)), fixed(w.integer(2, 5)), fixed(3)), 0, 1)
    name = w.choice(
        [
            "image.flip_left_right",
            "image.flip_up_down",
            "image.rgb_to_grayscale",
            "image.transpose_image",
            "image.adjust_brightness",
            "image.adjust_contrast",
            "image.per_image_standardization",
            "image.rgb_to_hsv",
        ]
    )
    dims = (
        (*x.dims[:3], fixed(1))
        if "gray" in name
        else (x.dims[0], x.dims[2], x.dims[1], x.dims[3])
        if "transpose" in name
        else x.dims
    )
    if "standard" in name:
        x, dims = w.emit("getitem", [x, 0], dtype="float32", dims=x.dims[1:], bound=1), x.dims[1:]
    w.emit(name, [x, 0.5] if "adjust" in name else [x], dtype="float32", dims=dims, bound=20)


@step("windows", 1)
def patches(w):
    x = w.leaf("float32", (fixed(w.integer(1, 2)), fixed(w.integer(3, 5)), fixed(w.integer(3, 5)), fixed(w.integer(1, 2))))
    rows, columns = (d[0] - 1 for d in x.dims[1:3])
    w.emit(
        "extract_image_patches",
        [x],
        {"ksizes": [1, 2, 2, 1], "strides": [1, 1, 1, 1], "rates": [1, 1, 1, 1], "padding": "VALID"},
        "float32",
        (x.dims[0], fixed(rows), fixed(columns), fixed(4 * x.dims[3][0])),
        x.bound,
        x.grain,
    )


@step("windows", 1)
def local_response(w):
    x = w.leaf("float32", (fixed(2), fixed(2), fixed(3), fixed(w.integer(1, 6))))
    w.emit("nn.local_response_normalization", [x], {"depth_radius": w.integer(1, 3)}, "float32", x.dims, 4)


@step("linear", 1)
def transformed(w):
    x = w.leaf("float32", (*w.shape(0, 1), fixed(w.integer(1, 9))))
    x = w.emit("cast", [x, {"dtype": "complex64"}], dtype="complex64", dims=x.dims, bound=x.bound)
    y = w.emit(w.choice(["fft", "ifft"]), [x], dtype="complex64", dims=x.dims, bound=x.bound * 9)
    w.emit("abs", [y], dtype="float32", dims=x.dims, bound=200)


@step("linear", 1)
def distances(w):
    x = w.tamed(w.pick(WHOLE, low=2, high=2, most=300), 10)
    a = w.emit("expand_dims", [x, 1], dtype=x.dtype, dims=(x.dims[0], fixed(1), x.dims[1]), bound=x.bound)
    b = w.emit("expand_dims", [x, 0], dtype=x.dtype, dims=(fixed(1), *x.dims), bound=x.bound)
    s = w.emit("squared_difference", [a, b], dtype=x.dtype, dims=joined(a.dims, b.dims), bound=400)
    s = w.emit("reduce_sum", [s, 2], dtype=x.dtype, dims=(x.dims[0], x.dims[0]), bound=4000)
    w.emit("sqrt", [into(w, s, "positive")], dtype=x.dtype, dims=s.dims, bound=100)
