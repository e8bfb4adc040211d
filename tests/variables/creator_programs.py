"""Scopes of creators: run by both, see test_creators.py.  ``python creator_programs.py`` prints TensorFlow's answers."""
import json


def asked(tf):
    """What creators are asked, in order, and what becomes of the variables."""
    tf.reset_default_graph()
    log = []

    def logging(name, **changes):
        def creator(next_creator, **kwargs):
            log.append([name, sorted(kwargs), kwargs["name"], kwargs["trainable"], kwargs["use_resource"]])
            made = next_creator(**{**kwargs, **changes})
            log.append([name, made.name, made.op.type, made.trainable])
            return made
        return creator

    with tf.variable_creator_scope(logging("outer", use_resource=True)):
        with tf.variable_creator_scope(logging("inner", trainable=False)):
            tf.Variable(1.0, name="a")
            with tf.variable_scope("scope"):
                tf.get_variable("b", [2], trainable=True)
            with tf.Graph().as_default():
                tf.Variable(2.0, name="elsewhere")
        tf.get_variable("c", [3], partitioner=tf.fixed_size_partitioner(2))
    tf.Variable(3.0, name="d")
    with tf.variable_creator_scope(lambda next_creator, **kwargs: "mine"):
        log.append(tf.Variable(1.0))
    scopes = [tf.variable_creator_scope(logging(name)) for name in "xy"]
    for scope in scopes:
        scope.__enter__()
    for scope in scopes:            # the outer one first
        try:
            scope.__exit__(None, None, None)
        except RuntimeError as error:
            log.append(str(error))
    log.append([[v.name, v.op.type] for v in tf.global_variables()])
    return log


if __name__ == "__main__":
    import tensorflow

    print(json.dumps(asked(tensorflow)))
