"""Small programs, after each of which the default seed of a random op is the number of operations that TensorFlow made.

``python seed_programs.py`` under a Python with TensorFlow 1.15 prints what stands in data/tf115_default_seeds.json.
"""
import json

UNARY = """
x*2 | x+1 | x-1 | x/2 | x*x | x**2 | -x | tf.square(x) | tf.exp(x) | tf.log(x) | tf.sqrt(x) | tf.tanh(x) | tf.sigmoid(x)
tf.nn.relu(x) | tf.nn.softplus(x) | tf.abs(x) | tf.reduce_sum(x) | tf.reduce_mean(x) | tf.reduce_sum(x, 0)
tf.reduce_mean(x, 0) | tf.reduce_mean(x, 1) | tf.reduce_sum(x, 0) + tf.reduce_sum(x * 3, 0) | tf.reduce_max(x, 0)
tf.reduce_max(x) | tf.reduce_min(x, 1) | tf.reduce_prod(x) | tf.matmul(x, tf.ones([3, 2])) | tf.matmul(x, x, transpose_b=True)
tf.nn.softmax(x) | tf.nn.log_softmax(x) | tf.nn.softmax_cross_entropy_with_logits_v2(logits=x, labels=tf.ones([2, 3]))
tf.nn.sparse_softmax_cross_entropy_with_logits(logits=x, labels=[0, 1])
tf.nn.sigmoid_cross_entropy_with_logits(logits=x, labels=tf.ones([2, 3])) | tf.nn.l2_loss(x) | tf.reshape(x, [-1])
tf.transpose(x) | tf.concat([x, x], 0) | tf.stack([x, x]) | tf.split(x, 3, 1) | tf.unstack(x, 2) | x[0] | x[:, 1:2]
tf.gather(x, [0]) | tf.tile(x, [2, 1]) | tf.pad(x, [[1, 1], [0, 0]]) | tf.expand_dims(x, 0) | tf.where(x > 0, x, -x)
tf.maximum(x, 0.) | tf.minimum(x, x * 2) | tf.clip_by_value(x, 0., 1.) | tf.cast(x, tf.float64) | tf.nn.dropout(x, 0.5)
tf.nn.bias_add(x, [1., 2., 3.]) | tf.nn.moments(x, [0])[0] | tf.nn.l2_normalize(x, 1) | tf.stop_gradient(x) * x | tf.cumsum(x)
tf.one_hot([0, 1], 3) * x | tf.reduce_logsumexp(x) | tf.norm(x) | tf.div_no_nan(x, 2.) | tf.nn.leaky_relu(x) | tf.nn.elu(x)
tf.matmul(tf.expand_dims(x, 0), tf.ones([1, 3, 2])) | tf.nn.top_k(x, 1)[0] | tf.broadcast_to(x, [4, 2, 3]) | tf.identity(x)
tf.where([True, False], x, x) | tf.tensordot(x, tf.ones([3, 2]), 1) | tf.add_n([x, x]) | tf.reverse(x, [0])
tf.squared_difference(x, 1.) | tf.unsorted_segment_sum(x, [0, 1], 2) | x * 2 + x * 3 | (x + 1) * (x + 1) | x * [1., 2., 3.]
tf.sort(x) | tf.sort(x, 0, "DESCENDING") | tf.tensordot(x, x, [[1], [1]]) | tf.unsorted_segment_mean(x, [0, 1], 2)
tf.unsorted_segment_sqrt_n(x, [0, 1], 2) | tf.unsorted_segment_prod(x, [0, 1], 2) | tf.unsorted_segment_max(x, [0, 1], 2)
tf.segment_mean(x, [0, 1]) | tf.math.reduce_variance(x) | tf.math.reduce_std(x, 0) | tf.sign(x) | tf.gather(x, [0], axis=1)
tf.fill([2], tf.reduce_sum(x)) | tf.tensor_scatter_add(x, [[0]], x[:1]) | tf.tensor_scatter_update(x, [[0]], x[:1])
tf.matrix_set_diag(x, [1., 2.]) | tf.maximum(x, 0.) * x | tf.where_v2(x > 0, x, 0.) | tf.reduce_sum(x, tf.constant([1], tf.int64))
tf.cholesky(tf.matmul(x, x, transpose_b=True)) | tf.matrix_determinant(x[:, :2]) | tf.math.xdivy(x, x) | tf.atan2(x, x)
tf.zeros([0]) + tf.reduce_sum(x) | tf.image.adjust_brightness(x, .5) | tf.nn.moments(x, [0])[1]
tf.einsum("ab,ac->bc", x, x) | tf.einsum("ab,cb->", x, x) | tf.einsum("ab,ab->ba", x, x) | tf.einsum("ab,ac,ad->bcd", x, x, x)
tf.einsum("ab,bc,cd->ad", x, tf.transpose(x), x) | tf.einsum("ab->b", x) | tf.einsum("ab,cd->acbd", x, x)
tf.real(tf.complex(x, x)) | x * tf.ones([1, 1]) + tf.reduce_sum(x * tf.ones([1, 1]))
"""
IMAGES = """
tf.nn.conv2d(x, tf.ones([3, 3, 3, 4]), [1, 1, 1, 1], "SAME") | tf.nn.max_pool(x, [1, 2, 2, 1], [1, 2, 2, 1], "SAME")
tf.nn.avg_pool(x, [1, 2, 2, 1], [1, 2, 2, 1], "SAME") | tf.nn.fused_batch_norm(x, [1.] * 3, [0.] * 3)[0] | tf.nn.lrn(x)
tf.nn.depthwise_conv2d(x, tf.ones([3, 3, 3, 1]), [1, 1, 1, 1], "SAME")
tf.nn.depthwise_conv2d(x, tf.ones([3, 3, 3, 1]), [1, 1, 1, 1], "SAME", [2, 2]) | tf.image.resize_bilinear(x, [4, 4])
tf.nn.conv2d_transpose(x, tf.ones([3, 3, 4, 3]), [2, 16, 16, 4], [1, 2, 2, 1]) | tf.image.rgb_to_hsv(x)
tf.extract_image_patches(x, [1, 2, 2, 1], [1, 1, 1, 1], [1, 1, 1, 1], "VALID")
tf.nn.conv3d(x[None], tf.ones([1, 2, 2, 3, 4]), [1] * 5, "SAME")
tf.gradients(tf.nn.avg_pool(x, [1, 2, 2, 1], [1] * 4, "SAME"), x, x)[0]
tf.gradients(tf.nn.max_pool(x, [1, 2, 2, 1], [1] * 4, "SAME"), x, x)[0]
"""
CONTROL = """
tf.cond(p, lambda: tf.constant(1.), lambda: tf.constant(2.)) | tf.cond(p, lambda: x * 2, lambda: x + 1)
tf.cond(p, lambda: (x * 2, x), lambda: (x + 1, x * 3.)) | tf.cond(p, lambda: tf.cond(p, lambda: x, lambda: x + 1), lambda: x * 2)
tf.cond(p, lambda: tf.assign(v, [2., 1.]), lambda: tf.identity(v)) | tf.cond(p, lambda: tf.no_op(), lambda: tf.no_op())
tf.while_loop(lambda i: i < 3, lambda i: i + 1, [0]) | tf.while_loop(lambda i, a: i < 3, lambda i, a: (i + 1, a * x), [0, x])
tf.while_loop(lambda i: i < 3, lambda i: i + 1, [0], maximum_iterations=5) | tf.map_fn(lambda e: e * 2, x)
tf.while_loop(lambda i, a: i < 3, lambda i, a: (i + 1, tf.cond(i > 1, lambda: a, lambda: a + 1)), [0, x])
tf.while_loop(lambda i, a: tf.reduce_sum(a) < tf.reduce_sum(x), lambda i, a: (i + 1, a + x), [0, x])
tf.while_loop(lambda i, a: i < 3, lambda i, a: (i + 1, tf.random_uniform([2]) + a), [0, x])
tf.scan(lambda a, e: a + e, x) | tf.foldl(lambda a, e: a + e, x)
tf.scan(lambda a, e: a + e, x, reverse=True) | tf.foldr(lambda a, e: a + e, x) | tf.map_fn(lambda e: e, tf.zeros([0]))
tf.scan(lambda a, e: a + e, tf.zeros([0])) | tf.foldr(lambda a, e: a + e, tf.placeholder(tf.float32, [None]))
tf.map_fn(lambda e: e, r) | tf.foldl(lambda a, e: a + e, r) | tf.nn.moments(r, [0]) | tf.math.reduce_variance(r)
tf.cond(p, lambda: tf.zeros_like(x), lambda: tf.ones_like(x)) | tf.cond(p, lambda: tf.zeros_like(v), lambda: x)
tf.while_loop(lambda i, a: i < 3, lambda i, a: (i + 1, a + tf.ones_like(x) + x), [0, tf.identity(x)])
tf.cond(p, lambda: tf.cond(x[0] > 1, lambda: tf.identity(x), lambda: x * 2), lambda: x)
tf.case([(x[0] > 1, lambda: x), (x[0] > 0, lambda: x * 2)], default=lambda: x * 3) | tf.assert_positive(x)
tf.cond(p, lambda: tf.assign_sub(v, v * 2), lambda: v) | tf.cond(p, lambda: v * 2 + tf.assign_sub(v, v * 2), lambda: x)
"""
GRADIENTS = """
tf.cond(p, lambda: x * 2, lambda: x + 1) | tf.cond(p, lambda: tf.tanh(x), lambda: x) | tf.cond(p, lambda: x, lambda: x)
x + tf.cond(p, lambda: x * 2, lambda: x + 1) | tf.tanh(x) + tf.cond(p, lambda: tf.tanh(x), lambda: x)
x + tf.cond(p, lambda: x, lambda: tf.zeros([2]))
tf.add_n([x, tf.cond(p, lambda: x, lambda: x), x]) | tf.reduce_sum(tf.cond(p, lambda: tf.gather(x, [0]), lambda: x)) + x
tf.reduce_sum(tf.cond(p, lambda: tf.gather(x, [0]), lambda: tf.gather(x, [1, 0]))) + x
tf.reduce_sum(tf.cond(p, lambda: tf.gather(x, [0]), lambda: tf.zeros([2]))) + tf.gather(x, [1])
tf.while_loop(lambda i, a: i < 3, lambda i, a: (i + 1, a * x), [0, x])[1] | tf.map_fn(lambda e: e * 2, x)
tf.while_loop(lambda i, a: i < 3, lambda i, a: (i + 1, tf.tanh(a)), [0, x])[1] | tf.scan(lambda a, e: a + e, x)
tf.while_loop(lambda i, a: i < 3, lambda i, a: (i + 1, tf.tanh(x)), [0, x])[1]
tf.scan(lambda a, e: tf.tanh(tf.constant(2.)), x, initializer=0.)
tf.TensorArray(tf.float32, 3, clear_after_read=False).write(0, x).read(0) | tf.gradients(tf.reduce_sum(x * x * x), x)[0]
"""
BROADCASTS = """
x * tf.sin(x) * x | x / tf.sin(x) / x | x ** tf.sin(x) ** x | x % tf.sin(x) | x - tf.sin(x) | tf.igamma(x, tf.sin(x))
"""
LOOPS = """
tf.while_loop(lambda i, a: i < 1, lambda i, a: (i + 1, a * x), [0, x])[1] | written(lambda a: tf.tanh(x))[0]
tf.while_loop(lambda i, a: i < 1, lambda i, a: (i + 1, a - x), [0, x])[1] | written(lambda a: tf.tanh(x))[1]
written(lambda a: tf.tanh(a))[0] | written(lambda a: tf.add_n([a, x]))[0] | written(lambda a: a * x)[0] | written(lambda a: a)[0]
written(lambda a: tf.tanh(a))[1] | written(lambda a: tf.add_n([x, x]))[1] | written(lambda a: a * x)[1] | written(lambda a: a)[1]
written(lambda a: tf.minimum(half(), x))[1] | written(lambda a: a + tf.maximum(x, half()))[1]
written(lambda a: tf.minimum(a, half()))[1] | written(lambda a: tf.squared_difference(half(), x))[1]
written(lambda a: tf.pow(a, half()))[1] | written(lambda a: tf.floormod(x, half()))[1]
written(lambda a: tf.truediv(half(), a))[1] | written(lambda a: tf.subtract(half(), a))[1]
written(lambda a: tf.where_v2(x > half(), x, half()))[1] | written(lambda a: tf.igamma(half(), x))[1]
written(lambda a: tf.math.xdivy(half(), x))[1]
"""
# w is a placeholder beside x, and z another one, which nobody asks a gradient for
CAPTURES = """
tf.while_loop(lambda i, a: i < 3, lambda i, a: (i + 1, a + z), [0, x])[1] | tf.map_fn(lambda e: e * z, x)
tf.while_loop(lambda i, a: i < 3, lambda i, a: (i + 1, a * w), [0, z])[1] | tf.map_fn(lambda e: e * w, tf.ones([2]))
tf.while_loop(lambda i, a: i < 3, lambda i, a: (i + 1, a * w + z), [0, x], parallel_iterations=1)[1]
tf.cond(p, lambda: x * z, lambda: x + w)
tf.cond(p, lambda: tf.gradients(z * z, z)[0], lambda: z) * x
tf.while_loop(lambda i, a: i < 3, lambda i, a: (i + 1, a + tf.gradients(z * z, z)[0]), [0, x])[1]
tf.scan(lambda a, e: tf.tanh(a * w) + e, z, initializer=tf.zeros([]))
tf.scan(lambda a, e: a * w + e * z, x, initializer=tf.zeros([]))
"""
OTHERS = """
tf.TensorArray(tf.float32, 2).unstack([1., 2.]) | tf.TensorArray(tf.float32, 2).unstack(tf.Variable([1., 2.], use_resource=True))
tf.confusion_matrix([0, 1], [1, 0], 2) | tf.confusion_matrix([0, 1], [1, 0], weights=[1, 2])
tf.Variable(1.) | tf.get_variable("a", [2, 3]) | tf.Variable(1., use_resource=True) | tf.get_variable("a", [2], use_resource=True)
tf.random_normal([2]) + tf.random_uniform([2]) + tf.truncated_normal([2]) + tf.random_shuffle([1., 2.])
tf.group(tf.constant(1.), p)
tf.Variable(v.initialized_value() * 2) | tf.Variable(v * 2) | tf.train.ExponentialMovingAverage(.9).apply([v])
tf.clip_by_global_norm([x, x * 2], 1.) | tf.train.exponential_decay(.1, tf.Variable(0, trainable=False), 10, .9)
tf.gradients(x * 2, x, grad_ys=[tf.ones([2])]) | tf.gradients([x * 2, x * 3], [x]) | tf.dynamic_partition(x, [0, 1], 2)
tf.gradients(tf.nn.embedding_lookup(v, [0, 1]), v) | (v.initializer, tf.train.Saver()) | (v, tf.global_variables_initializer())
"""
# the gradient of y for a, one of the results of a loop of two variables
EXITS = """
tf.tanh(a) | tf.tanh(a) + b | a | tf.tanh(a) * a + x
"""
# what the body of a loop makes of two values; gradients are built for the first, the second and both, one after the other
PAIRS = """
a + v, v | a * v, v | v, a | v, v | a, v | a * x, v | x, v * v | x * 2., tf.tanh(x) | v, v * a | tf.tanh(v), tf.tanh(v)
unused(other, a), v | unused(other, a * x), v
"""
# what is not built, for `fail` raises ValueError or shapes do not fit
REFUSED = """
tf.while_loop(lambda k: k < 1, fail, [0]) | tf.while_loop(fail, lambda k: k + 1, [0]) | tf.map_fn(fail, x) | tf.scan(fail, x)
tf.while_loop(lambda k, a: k < 1, lambda k, a: (k + 1, tf.concat([a, a], 0)), [0, x]) | tf.foldl(fail, x) | tf.foldr(fail, x)
tf.while_loop(lambda k: k < 1, fail, [0], maximum_iterations=5) | tf.cond(x[0] > 1., lambda: tf.tanh(x), fail)
tf.scan(lambda a, e: e, x, x) | tf.matmul(x, x) | tf.reshape(x, [7]) | x + tf.placeholder(tf.float32, [7]) | x[5]
tf.gradients(tf.random_shuffle(x), x) | tf.split(x, 4, 0) | tf.gradients(x > 0., x) | tf.gradients([x, x > 0.], x)
tf.gradients(x, [None]) | tf.gradients(x, x, stop_gradients=[None]) | tf.gradients(tf.cast(x, tf.complex64), x)
tf.gradients(x, x, grad_ys=[True]) | tf.gradients(x, x, grad_ys=[1., 2.]) | tf.gradients(tf.as_string(x), x)
"""
# what the body of a loop makes of its two values; gradients of both results are built for what the second one starts from
STARTS = """
a + 1., b | a + x, b * x | a + x, b * a | a * a, tf.tanh(b) | a * b, b + b * a | b, b * x | a, b * 2.
"""
# of x, matrices of several shapes
MATRICES = """
tf.svd(x)[0] | tf.svd(x)[1] | tf.svd(x, compute_uv=False) | tf.svd(x, full_matrices=True)[2] | tf.qr(x)[0]
tf.self_adjoint_eig(x)[1] | tf.self_adjoint_eigvals(x) | tf.matrix_inverse(x) | tf.matrix_solve(x, x) | tf.cholesky(x)
tf.matrix_triangular_solve(x, x) | tf.matrix_solve_ls(x, x) | tf.linalg.slogdet(x)[1] | tf.linalg.logdet(x)
tf.linalg.sqrtm(x) | tf.linalg.tridiagonal_solve(x, x[..., 0]) | tf.matrix_determinant(x) | tf.trace(x)
"""
# results of one operation, of which only the first has a gradient: asked for are those of all of them
SIBLINGS = """
tf.split(x, 3, 0) | tf.unstack(x) | tf.dynamic_partition(x, [0, 1, 0], 2) | tf.qr(x) | tf.svd(x) | tf.identity_n([x, x * 2])
tf.nn.fused_batch_norm(tf.reshape(x, [1, 1, 3, 3]), [1.] * 3, [0.] * 3)[:3] | tf.linalg.slogdet(x) | tf.nn.moments(x, [0])
"""
# arguments of gradients of t = tanh(u), where u is the result of a loop of two variables, and v the other result
STOPPED = """
t, x, stop_gradients=[t] | t, [u, x, t], stop_gradients=[t] | v, x, stop_gradients=[v] | t, [t, x]
[t, v], x, stop_gradients=[u, v] | t, u | t, [u, x] | t, [x, v] | t, [v, u]
"""
# whose second gradients are built
TWICE = """
tf.image.rgb_to_hsv(x) | tf.einsum("ab,cb->ac", x, x) | tf.einsum("ab,ab->", x, x) | tf.einsum("ab,cd->abcd", x, x)
tf.nn.relu(x) | tf.nn.elu(x) | tf.nn.leaky_relu(x) | tf.tanh(x) | tf.nn.softmax(x) | tf.reduce_sum(x, 0) | tf.reduce_mean(x, 1)
x * z | x / z | x - z | tf.maximum(x, z) | x ** z | tf.squared_difference(x, z) | tf.reduce_logsumexp(x) | x % z
"""
# z, x: of what gradients are taken, which are then xs beside z and x themselves
MASKED = """
tf.minimum(x, z) | tf.maximum(x, z) | tf.where_v2(x > z, x, z) | tf.where(x > z, x, z) | x * tf.nn.relu(z) | tf.abs(x) * z
"""
OPTIMIZERS = ("GradientDescentOptimizer(.1)", "AdamOptimizer()", "MomentumOptimizer(.1, .9)", "RMSPropOptimizer(.1)",
              "AdagradOptimizer(.1)", "FtrlOptimizer(.1)", "AdadeltaOptimizer()")


def _texts(table):
    return [text.strip() for line in table.strip().splitlines() for text in line.split(" | ")]


def _of(tf, text, gradient, shape):
    x = tf.placeholder(tf.float32, shape)
    y = eval(text, {"tf": tf, "x": x})
    if gradient:
        tf.gradients(y, x)


def _control(tf, text, gradient):
    x, p = tf.placeholder(tf.float32, [2]), tf.placeholder(tf.bool, [])
    v = tf.Variable([1., 2.])
    r = tf.Variable([1., 2.], use_resource=True)
    y = eval(text, {"tf": tf, "x": x, "p": p, "v": v, "r": r})
    if gradient:
        tf.gradients(y, x)


def _of_two(tf, text, dtype, shape):
    x = tf.placeholder(dtype, shape)

    def written(step):
        """What a loop writes into a TensorArray, and its last value."""
        array = tf.TensorArray(x.dtype, 1, infer_shape=False)
        _, array, last = tf.while_loop(lambda i, array, a: i < 1, lambda i, array, a: (i + 1, array.write(i, a), step(a)),
                                       [0, array, x])
        return array.stack(), last

    names = {"tf": tf, "x": x, "written": written, "half": lambda: tf.constant(.5, x.dtype)}
    tf.gradients(eval(text, names), x)


def _captures(tf, text):
    x, z = tf.placeholder(tf.float32, [2]), tf.placeholder(tf.float32, [])
    w, p = tf.placeholder(tf.float32, []), tf.placeholder(tf.bool, [])
    if "scan" in text and "* z" not in text:
        z = tf.placeholder(tf.float32, [4])
    tf.gradients(eval(text, {"tf": tf, "x": x, "w": w, "z": z, "p": p}), [x, w])


def _exits(tf, text, shape):
    x = tf.placeholder(tf.float32, shape)
    _, a, b = tf.while_loop(lambda i, *_: i < 3, lambda i, a, b: (i + 1, a * 2, b * 3), [0, x, x])
    tf.gradients(eval(text, {"tf": tf, "x": x, "a": a, "b": b}), a)


def _pairs(tf, text, shape):
    x = tf.tanh(tf.placeholder(tf.float32, shape))
    other = tf.map_fn(lambda e: e * 2, x)                   # the result of another loop

    def unused(tensor, kept):
        tensor + kept
        return kept

    body = eval(f"lambda k, a, v: (k + 1, {text})", {"tf": tf, "x": x, "other": other, "unused": unused})
    _, a, b = tf.while_loop(lambda k, a, v: k < 1, body, [0, x + 1, x])
    for y in (a, b, [a, b]):
        tf.gradients(y, x)


def _siblings(tf, text):
    x = tf.placeholder(tf.float32, [3, 3]) * 2
    results = list(eval(text, {"tf": tf, "x": x}))
    for of in (results[0], results[-1]):
        for xs in ([x, *results], results):
            tf.gradients(tf.tanh(of), xs)


def _starts(tf, text, shape):
    x = tf.placeholder(tf.float32, shape)
    z = x * 2.
    body = eval(f"lambda a, b: ({text})", {"tf": tf, "x": x})
    results = tf.while_loop(lambda a, b: tf.reduce_sum(a) < 2., body, [x * 3., z])
    tf.gradients(results, z)
    tf.gradients([*results, results[0]], z)


def _stopped(tf, text):
    x = tf.placeholder(tf.float32, [2])
    _, u, v = tf.while_loop(lambda k, a, b: k < 1, lambda k, a, b: (k + 1, tf.tanh(b), tf.add_n([b])), [0, x, x])
    eval(f"tf.gradients({text})", {"tf": tf, "x": x, "u": u, "v": v, "t": tf.tanh(u)})


def _refused(tf, text):
    def fail(*arguments):
        tf.identity(1.)
        raise ValueError

    try:
        eval(text, {"tf": tf, "x": tf.placeholder(tf.float32, [2]), "fail": fail})
    except (ValueError, LookupError, TypeError, AttributeError):
        return
    raise AssertionError(text + " is built")


def _twice(tf, text, shape, other):
    x, z = tf.placeholder(tf.float32, shape), tf.placeholder(tf.float32, other)
    y = eval(text, {"tf": tf, "x": x, "z": z})
    tf.gradients(tf.gradients(y, x, grad_ys=y), [x, y])


def _masked(tf, text, shape):
    x, z = tf.placeholder(tf.float32, shape), tf.placeholder(tf.float32, [2])
    y = eval(text, {"tf": tf, "x": x, "z": z})
    of_x, of_z = tf.gradients(y, [x, z])
    tf.gradients(of_x, [y, of_x, z])
    tf.gradients(of_x, [of_x, x])
    tf.gradients([of_x, of_z], [of_z, z, x])


def _training(tf, text):
    w, b = tf.Variable(tf.ones([3, 2])), tf.Variable(tf.zeros([2]))
    x = tf.placeholder(tf.float32, [None, 3])
    eval("tf.train." + text, {"tf": tf}).minimize(tf.reduce_mean(tf.square(tf.matmul(x, w) + b)))


def programs(tf):
    """{name: function that builds the program in the default graph}"""
    found = {}

    def add(name, build, *args):
        found[name] = lambda: build(tf, *args)

    for text in _texts(UNARY):
        for shape in ([2, 3], [None, 3]):
            for gradient in (False, True):
                add("{} of {}{}".format(text, shape, ", gradient" * gradient), _of, text, gradient, shape)
    for text in _texts(IMAGES):
        add("gradient of " + text, _of, text, True, [2, 8, 8, 3])
    for text in _texts(CONTROL) + _texts(OTHERS):
        add(text, _control, text, False)
    for text in _texts(GRADIENTS):
        add("gradient of " + text, _control, text, True)
    for text in _texts(BROADCASTS) + _texts(LOOPS):
        for dtype in ("float32", "float64"):
            for shape in ([2], None):
                add(f"gradient of {text} of {dtype} {shape}", _of_two, text, dtype, shape)
    for text in _texts(CAPTURES):
        add("gradients of " + text, _captures, text)
    for text in _texts(EXITS):
        for shape in ([2], [None]):
            add(f"{text} of {shape}, gradient for a result of a loop", _exits, text, shape)
    for text in _texts(TWICE):
        for shape, other in (([2, 3], [1, 3]), ([None, 3], [3]), ([None, 3], [None, 3])):
            add(f"second gradient of {text} of {shape}, {other}", _twice, text, shape, other)
    for text in _texts(PAIRS):
        for shape in ([2], [None]):
            add(f"gradients of a loop with {text} of {shape}", _pairs, text, shape)
    for text in _texts(MATRICES):
        for shape in ([3, 3], [2, 3, 3], [None, 3, 3]):
            add(f"gradient of {text} of {shape}", _of, text, True, shape)
    for text in _texts(SIBLINGS):
        add(f"gradients of all of {text}", _siblings, text)
    for text in _texts(STARTS):
        for shape in ([2], [None]):
            add(f"gradients for the start of one of {text} of {shape}", _starts, text, shape)
    for text in _texts(STOPPED):
        add(f"gradients({text})", _stopped, text)
    for text in _texts(REFUSED):
        add(f"{text} raises", _refused, text)
    for text in _texts(MASKED):
        for shape in ([2], []):
            if shape or ".where(" not in text:      # which does not broadcast
                add(f"gradients of gradients of {text} of {shape} among themselves", _masked, text, shape)
    for text in OPTIMIZERS:
        add(text, _training, text)
    return found


def default_seed(tf, build):
    """The default op seed after a program."""
    tf.reset_default_graph()
    tf.set_random_seed(1)
    build()
    return tf.get_seed(None)[1]


if __name__ == "__main__":
    import tensorflow

    seeds = {name: default_seed(tensorflow, build) for name, build in programs(tensorflow).items()}
    print(json.dumps(seeds, indent=0, sort_keys=True))
