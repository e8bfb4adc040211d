"""Connectionist temporal classification: the loss and its gradient, greedy and beam search decoders."""
import numpy as np

LOGITS = np.random.RandomState(0).randn(9, 4, 5).astype(np.float32) * 2
LENGTHS = np.array([9, 7, 5, 3], np.int32)
INDICES = [[0, 0], [0, 1], [0, 2], [1, 0], [1, 1], [2, 0], [2, 1], [3, 0]]
DENSE = np.array([[1, 1, 3], [4, 2, 0], [2, 2, 0], [0, 0, 0]], np.int32)


def labels(tf, values=(1, 1, 3, 0, 2, 2, 2, 1)):
    return tf.SparseTensor(INDICES, tf.constant(values, tf.int32), [4, 3])


def parts(tensor):
    return [tensor.indices, tensor.values, tensor.dense_shape]


def cases(tf):
    nn = tf.nn

    def loss(collapse, merge):
        x = tf.constant(LOGITS)
        y = nn.ctc_loss(labels(tf), x, LENGTHS, preprocess_collapse_repeated=collapse, ctc_merge_repeated=merge)
        return [y, tf.gradients(y * tf.constant([1.0, 2.0, 3.0, 4.0]), x)]

    def searched(width, paths, merge):
        found, scores = nn.ctc_beam_search_decoder(LOGITS, LENGTHS, beam_width=width, top_paths=paths, merge_repeated=merge)
        return [parts(one) for one in found] + [scores]

    def greedy(merge):
        found, scores = nn.ctc_greedy_decoder(LOGITS, LENGTHS, merge_repeated=merge)
        return parts(found[0]) + [scores]

    def dense(blank):
        wanted = DENSE if blank is None else np.where(np.equal(DENSE, blank), (blank + 1) % 5, DENSE)
        return nn.ctc_loss_v2(wanted, tf.constant(LOGITS), np.array([3, 2, 2, 0], np.int32), LENGTHS, blank_index=blank)

    found = {f"loss {c} {m}": lambda c=c, m=m: loss(c, m) for c in (False, True) for m in (False, True)}
    found.update({f"greedy {m}": lambda m=m: greedy(m) for m in (False, True)})
    for width, paths in ((100, 1), (100, 3), (3, 2), (5, 5), (1, 1), (20, 7)):
        for merge in (True, False):
            found[f"beam {width} {paths} {merge}"] = lambda w=width, n=paths, m=merge: searched(w, n, m)
    found.update({f"dense {blank}": lambda b=blank: dense(b) for blank in (None, 0, 2, 4)})
    found.update({
        "batch first": lambda: nn.ctc_loss(labels(tf), np.transpose(LOGITS, (1, 0, 2)), LENGTHS, time_major=False),
        "ignored": lambda: nn.ctc_loss(labels(tf), LOGITS, np.array([2, 2, 1, 3], np.int32),
                                       ignore_longer_outputs_than_inputs=True),
        "no path": lambda: list(tf.raw_ops.CTCLoss(
            inputs=LOGITS, labels_indices=np.array([[0, 0], [0, 1], [1, 0], [2, 0], [3, 0]], np.int64),
            labels_values=np.array([1, 1, 1, 1, 1], np.int32), sequence_length=np.array([2, 2, 2, 2], np.int32))),
        "sparse v2": lambda: nn.ctc_loss_v2(labels(tf, (1, 1, 3, 0, 3, 0, 0, 1)), LOGITS, None, LENGTHS, blank_index=2),
        "collapsed": lambda: list(nn.collapse_repeated(
            tf.constant([[1, 1, 2, 2, 3], [1, 2, 3, 4, 4], [5, 5, 5, 5, 5]]), tf.constant([4, 5, 2]))),
        "distinct": lambda: list(nn.ctc_unique_labels(tf.constant([[1, 1, 2, 2, 3], [5, 2, 5, 4, 4]]))),
        "too short": lambda: nn.ctc_loss(labels(tf), LOGITS, np.array([2, 2, 2, 2], np.int32)),
        "too long": lambda: nn.ctc_loss(labels(tf), LOGITS, np.array([20, 2, 2, 2], np.int32)),
        "dense labels": lambda: nn.ctc_loss(DENSE, LOGITS, LENGTHS),
        "label after the end": lambda: nn.ctc_loss(labels(tf, (1, 4, 3, 0, 2, 2, 2, 1)), LOGITS, LENGTHS),
        "more paths than beams": lambda: nn.ctc_beam_search_decoder(LOGITS, LENGTHS, 2, 3)[1],
        "no blank": lambda: nn.ctc_loss_v2(labels(tf), LOGITS, None, LENGTHS),
    })
    return found
