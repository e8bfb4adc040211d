"""Monitors: at which steps they are called."""


def test_each_step_is_told_by_its_number_in_a_first_and_a_later_training(tf):
    learn, told = tf.contrib.learn, []

    class Telling(learn.monitors.BaseMonitor):
        def step_begin(self, step):
            told.append(("begin", step))
            return []

        def step_end(self, step, output):
            told.append(("end", step))
            return False

        def post_step(self, step, session):
            told.append(("post", step))

    def model(features, labels, mode):
        w = tf.get_variable("w", [])
        loss = tf.square(w - 1.0)
        return w, loss, tf.contrib.layers.optimize_loss(loss, tf.train.get_global_step(), 0.1, "SGD")

    estimator = learn.Estimator(model_fn=model)
    for steps, expected in ((4, [1, 2, 3, 4]), (3, [5, 6, 7])):
        told.clear()
        estimator.fit(input_fn=lambda: ({"x": tf.constant([[1.0]])}, tf.constant([1.0])), steps=steps, monitors=[Telling()])
        assert told == [(what, step) for step in expected for what in ("begin", "end", "post")]


def test_values_are_told_with_the_digits_of_their_dtype(tf, caplog):
    tf.logging.set_verbosity(tf.logging.INFO)
    tenth = tf.constant(0.1, name="tenth")
    monitor = tf.contrib.learn.monitors.PrintTensor(["tenth:0"], every_n=1)
    monitor.begin()
    with tf.Session() as session:
        values = {name: session.run(tenth) for name in monitor.step_begin(1)}
    monitor.step_end(1, values)
    assert [record.getMessage() for record in caplog.records] == ["Step 1: tenth:0 = 0.1"]
