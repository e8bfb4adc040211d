"""Functions with ifs and loops over tensors; ``tf`` is set by the programs.  Python 3.7 reads them too."""
tf = None


def absolute(x):
    if x > 0:
        return x
    else:
        return -x


def sign(x):
    if x > 0.0:
        return 1.0
    if x < 0.0:
        return -1.0
    return 0.0


def grown(x):
    n = 0
    while x < 100.0:
        x = x * 2.0
        n += 1
    return x, n


def total(rows):
    result = 0.0
    for row in rows:
        result += tf.reduce_sum(row)
    return result


def odd_sum(n):
    result = 0
    for i in tf.range(n):
        if i % 2 == 0 and i < 1000 or i > 5000:
            continue
        result += i
    return result


def ranged(n):
    result = 1
    for i in range(1, n):
        result *= i
    return result


def first_above(values, limit):
    found = -1.0
    for v in values:
        if v > limit:
            found = v
            break
    return found


def collatz(n):
    steps = 0
    while tf.not_equal(n, 1):
        if tf.equal(n % 2, 0):
            n = n // 2
        else:
            n = 3 * n + 1
        steps += 1
        if steps >= 1000:
            break
    return steps


def plain(k, items=(1, 2, 3)):
    result = []
    for item in items:
        if item == 2:
            continue
        if item > 5:
            break
        result.append(item * k)
    else:
        result.append(0)
    return result


def early(items):
    for item in items:
        if item > 2:
            return item
    return -1


def logical(x, y):
    return x > 0 and y > 0, x > 0 or y > 0, not x > 0


def conditional(x):
    return x * 2.0 if x > 1.0 else x


def helper(x):
    if x > 1.0:
        x = x - 1.0
    return x


def calling(x):
    return helper(x) + helper(x + 1.0)


def nested(x, n):
    result = tf.zeros([2])
    i = 0
    while i < n:
        j = 0
        while j < i:
            result = result + x
            j += 1
        i += 1
    return result


def casts(x):
    return int(x) + len(tf.zeros([4, 2]))


def temporaries(x):
    if x > 0:
        y = x * 2
        z = y + 1
    else:
        z = x
    return z


def structures(x):
    pair = (x, {"a": x})
    if x > 0:
        pair = (x + 1, {"a": x * 10})
    return pair


def asserting(x):
    assert x > 0, "not positive"
    return tf.identity(x)


def one_branch(x):
    if x > 0:
        y = x
    return y


def kinds(x):
    if x > 0:
        y = x
    else:
        y = "text"
    return y


def dtypes(x):
    if x > 0:
        y = x
    else:
        y = 1
    return y


def closure(k):
    def inner(x):
        def innermost(y):
            if y > 0:
                return y * k
            return y
        return innermost(x)
    return inner


class Counter(object):
    def __init__(self):
        self.k = 3.0

    def scaled(self, x):
        if x > 0:
            x = x * self.k
        return x


def writes(v, n):
    i = 0
    while i < n:
        v.assign_add(1.0)
        i += 1
    return v.read_value()


class Holder(object):
    """An object whose attributes are set in ifs and loops."""

    def __init__(self, value):
        self.value = value

    def limited(self, limit):
        if self.value > limit:
            self.value = self.value * 0 + limit
        return self.value

    def doubled(self, n):
        for _ in tf.range(n):
            self.value = self.value * 2
        return self.value


def methods(x, limit):
    holder = Holder(x)
    holder.limited(limit)
    return holder.doubled(2)


def attributes(holder, n):
    while n > 0:
        holder.value += n
        n -= 1
    return holder.value


def elements(x):
    found = {"a": x, "b": 0}
    if x > 0:
        found["b"] = x + 1
    else:
        found["a"] = -x
    return found["a"], found["b"]


def undefined_before_loop(n):
    while n > 0:
        last = n
        n -= 1
    return last


def return_in_loop(n):
    for i in tf.range(n):
        if i > 3:
            return i
    return n


def return_in_one_branch(x):
    if x > 0:
        return x


def changes_dtype(x, n):
    while n > 0:
        x = tf.cast(x, tf.float64)
        n -= 1
    return x


def changes_shape(x, n):
    while n > 0:
        x = tf.concat([x, x], 0)
        n -= 1
    return x


def changes_structure(x, n):
    while n > 0:
        x = (x, x)
        n -= 1
    return x


def loop_variable_after(n):
    for i in tf.range(n):
        pass
    return i


def loop_variable_before(n):
    i = -1
    for i in tf.range(n):
        pass
    return i


def backwards(n):
    found = 0
    for i in tf.range(n, 0, -2):
        found = found * 10 + i
    return found


def continue_and_break(n):
    found = 0
    for i in tf.range(n):
        if i % 2 == 0 and i > 1:
            continue
        if i > 6:
            break
        found += i
    return found


def while_else(n):
    found = 0
    while n > 0:
        n -= 1
        found += n
    else:
        found += 100
    return found


def over_dataset(data):
    total = tf.constant(0, tf.int64)
    for x in data:
        total += x
    return total


def over_dataset_until(data, limit):
    total = tf.constant(0, tf.int64)
    for x in data:
        if total > limit:
            break
        total += x
    return total


def arrays(n):
    array = tf.TensorArray(tf.int32, 0, dynamic_size=True)
    for i in tf.range(n):
        if i > 1:
            array = array.write(array.size(), i * i)
    return array.stack()


def nested_loops(n):
    found = 0
    for i in tf.range(n):
        for j in tf.range(i):
            if j == 2 or i + j > 6:
                break
            found += i * j
    return found


def inner_functions(x, n):
    def step(value):
        if value > 10:
            return value - 10
        return value * 2

    added = lambda value: value + 1 if value > 3 else value
    for _ in tf.range(n):
        x = added(step(x))
    return x


def recursive(x, depth):
    if depth == 0:
        return x
    if x > 2:
        x = x / 2
    return recursive(x, depth - 1)


def with_scopes(x):
    with tf.name_scope("outer"):
        if x > 0:
            with tf.name_scope("inner"):
                y = x * 2
                return y
        return x


def tries(x, key):
    try:
        found = {"a": 1}[key]
    except KeyError:
        if x > 0:
            return x
        return -x
    finally:
        x = x + 1
    return found + x


def chained(x):
    if 0 < x < 10 if not isinstance(x, tf.Tensor) else tf.logical_and(x > 0, x < 10):
        return 1
    return 0


def equalities(x, y):
    return x == y, x != y, 1 == 1


def several_asserts(x):
    assert x > 0, "not positive"
    return x * 1


def keywords(x, *rest, **options):
    for one in rest:
        x = x + one
    if options.get("double", False):
        x = x * 2
    if x > options["limit"]:
        x = x * 0 + options["limit"]
    return x


def calls_keywords(x):
    return keywords(x, *[1, 2], **{"limit": 7, "double": True})


def text_builtins(x, t):
    return float(x), int(t), abs(x), len(t), float(tf.constant("2.5"))


def slices(x):
    if tf.reduce_sum(x) > 2:
        y = x[1:]
    else:
        y = x[:-1]
    return y


class Base(object):
    def value(self, x):
        return x + 1


class Derived(Base):
    def value(self, x):
        if x > 0:
            return super(Derived, self).value(x)
        return super(Derived, self).value(-x)


def derived(x):
    return Derived().value(x)


counted = 0


def counting(x):
    global counted
    counted += 1
    if x > 0:
        x = x * counted
    return x


def generated(x):
    yield x


def factorial(n):
    return tf.cond(n < 2, lambda: 1, lambda: n) if n < 3 else n * (n - 1)


def comprehensions(x, n):
    rows = [x * k if k > 1 else x for k in range(n) if k != 2]
    pairs = {k: v for k, v in enumerate(rows)}
    if x > 0:
        rows = [-one for one in rows]
    return rows + [pairs[0]]


def positional_only_flags(x, *, flag=True):
    if flag and x > 1:
        x = x - 1
    return x


def stateful(v, x):
    if x > 0:
        v.assign(x)
    else:
        v.assign_add(10.0)
    return v.read_value()


def prints(x):
    for i in tf.range(2):
        tf.print(i)
    return x


def asserts_a_list(x):
    assert x > 0, ["not positive", x]
    return x * 1


double_big = lambda x: x * 2 if x > 2 else -x


def datasets():
    data = tf.data.Dataset.range(6)
    moved = data.map(lambda x: absolute(x - 3))
    return [data.map(double_big), moved,
            moved.filter(lambda x: x > 0 and x < 3),
            data.flat_map(lambda x: tf.data.Dataset.range(0 if x is None else x + 1)),
            data.interleave(lambda x: tf.data.Dataset.from_tensors(absolute(x - 3)), cycle_length=2),
            data.apply(tf.data.experimental.scan(tf.constant(0), scanned)),
            data.map(Called()), data.map(Called().method)]


def scanned(s, x):
    if s > 2:
        x = absolute(x - 9)
    return s + 1, x


def summed():
    return tf.data.Dataset.range(5).reduce(tf.constant(0, tf.int64), lambda s, x: s + x if x > 2 else s)


class Called(object):
    def __call__(self, x):
        return absolute(x - 2)

    def method(self, x):
        return absolute(x - 4)


def left_datasets():
    return tf.data.Dataset.range(3).map(lambda x: absolute(x - 3))


def branches_of_functions(x):
    if x > 0:
        y = grown(x)[1]
    else:
        y = 0
    return y


def wrong_name(x):
    return x if tf.equal(x, 0) else missing_name


def raises(x):
    raise ValueError("mine")


def raises_key(x):
    raise KeyError("mine")


def ordered(v, n):
    for i in tf.range(n):
        v.assign_add(1.0)
        if i > 1:
            v.assign(v * 2.0)
        else:
            v.assign_sub(0.5)
    return v.read_value()


def ordered_branches(v, p, n):
    v.assign(v + 1.0)
    if p:
        v.assign(v * 2.0)
        y = 0.0
    else:
        v.assign(v + 10.0)
        y = 1.0
    v.assign(v + 0.5)
    i = 0
    while i < n:
        v.assign(v + 100.0)     # nothing that the loop gives depends on it
        i += 1
    return y, i, v.read_value()


def squares(n):
    found = []
    tf.contrib.autograph.set_element_type(found, tf.int32)
    for i in tf.range(n):
        found.append(i * i)
    return tf.contrib.autograph.stack(found)


def even_rows(n):
    found = []
    tf.contrib.autograph.set_element_type(found, tf.float32, [2])
    i = 0
    while i < n:
        if tf.equal(i % 2, 0):
            found.append(tf.ones([2]) * tf.cast(i, tf.float32))
        i += 1
    return tf.stack(found)


def products(n):
    found = []
    tf.contrib.autograph.set_element_type(found, tf.int32)
    for i in tf.range(n):
        for j in tf.range(i):
            found.append(i * j)
    return tf.contrib.autograph.stack(found)


def without_a_shape(n):
    found = []
    tf.contrib.autograph.set_element_type(found, tf.int32)
    for i in tf.range(n):
        found.append(i)
    return found.pop()


def popped():
    found = [1]
    for i in range(3):
        found.append(i)
    found.pop()
    first = found.pop(0)
    return found, first


def multiples(x):
    found = []
    tf.contrib.autograph.set_element_type(found, tf.float32)
    for i in tf.range(3):
        found.append(x * tf.cast(i, tf.float32))
    return tf.contrib.autograph.stack(found)
