"""Nodes of quantile streams that the estimators of today make no use of; the numbers are TensorFlow 1.15.5's."""


def test_summaries_are_flushed_once(tf):
    raw = tf.raw_ops
    stream = raw.BoostedTreesQuantileStreamResourceHandleOp(container="", shared_name="stream")
    create = raw.BoostedTreesCreateQuantileStreamResource(quantile_stream_resource_handle=stream, epsilon=0.1, num_streams=2,
                                                          max_elements=1000)
    summaries = raw.BoostedTreesMakeQuantileSummaries(
        float_values=[[1.0, 2.0, 3.0, 4.0, 5.0], [9.0, 8.0, 8.0, 7.0, 1.0]], example_weights=[1.0, 1.0, 2.0, 1.0, 1.0], epsilon=0.1)
    add = raw.BoostedTreesQuantileStreamResourceAddSummaries(quantile_stream_resource_handle=stream, summaries=summaries)
    flush = raw.BoostedTreesFlushQuantileSummaries(quantile_stream_resource_handle=stream, num_features=2)
    with tf.Session() as session:
        session.run(create)
        session.run(add)
        assert [found.tolist() for found in session.run(flush)] == [
            [[1, 1, 0, 1], [2, 1, 1, 2], [3, 2, 2, 4], [4, 1, 4, 5], [5, 1, 5, 6]],
            [[1, 1, 0, 1], [7, 1, 1, 2], [8, 3, 2, 5], [9, 1, 5, 6]]]
        assert [found.tolist() for found in session.run(flush)] == [[], []]
