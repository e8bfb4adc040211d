"""All elements that a pipeline gives."""


def drained(tf, iterator, initializer=None, refused=(), **options):
    """The elements of an iterator to its end, for each error of the classes `refused` the first line of its message.

    `options`: of the session, in which `initializer` runs first."""
    element, found = iterator.get_next(), []
    with tf.Session(**options) as session:
        if initializer is not None:
            session.run(initializer)
        while True:
            try:
                found.append(session.run(element))
            except tf.errors.OutOfRangeError:
                return found
            except refused as error:
                found.append(error.message.partition("\n")[0])
