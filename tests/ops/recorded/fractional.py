"""Pooling over windows of drawn sizes, and classes drawn from those seen so far: the same draws from the same seeds."""
import numpy as np

RNG = np.random.RandomState(0)
X = RNG.randn(2, 11, 13, 3)


def cases(tf):
    def pooled(pool, dtype, **how):
        x = tf.constant((X * 10).astype(dtype))
        results = pool(x, [1.0, 1.44, 1.73, 1.0], **how)
        return [*results, tf.gradients(results[0] * results[0], x)[0]] if dtype.startswith("float") else list(results)

    found = {}
    for name in ("max", "avg"):
        pool = getattr(tf.nn, f"fractional_{name}_pool")
        for dtype in ("float32", "float64", "int32", "int64"):
            for pseudo in (False, True):
                for over in (False, True):
                    for seed in ((87654321, 0), (5, 7)):
                        found[f"{name} {dtype} {pseudo} {over} {seed}"] = (
                            lambda pool=pool, dtype=dtype, how=dict(pseudo_random=pseudo, overlapping=over, deterministic=True,
                                                                    seed=seed[0], seed2=seed[1]):
                            pooled(pool, dtype, **how))
        for ratio in ([1.0, 1.1, 1.0, 1.0], [1.0, 2.0, 2.6, 1.0], [1.0, 11.0, 13.0, 1.0], [2.0, 1.5, 1.5, 2.0], [1.0, 1.5, 1.5]):
            for pseudo in (False, True):
                found[f"{name} {ratio} {pseudo}"] = lambda pool=pool, ratio=ratio, pseudo=pseudo: list(
                    pool(X, ratio, pseudo_random=pseudo, deterministic=True, seed=3))
        found[f"{name} with seeds for other runs"] = lambda pool=pool: list(pool(X, [1.0, 1.5, 1.5, 1.0], seed=3))
        found[f"{name} of a matrix"] = lambda pool=pool: list(pool(X[0], [1.0, 1.5, 1.5, 1.0]))
        found[f"{name} of unknown rank"] = lambda pool=pool: (
            lambda x: (list(pool(x, [1.0, 1.5, 1.5, 1.0])), {x: X[0]}))(tf.placeholder(tf.float64))
    true = np.array([[1, 4], [3, 0], [7, 7]])
    for sampler in ("learned_unigram_candidate_sampler", "raw"):
        for unique in (False, True):
            for seed in (1, 42):
                def drawn(sampler=sampler, unique=unique, seed=seed):
                    if sampler == "raw":
                        return list(tf.raw_ops.ThreadUnsafeUnigramCandidateSampler(
                            true_classes=true, num_true=2, num_sampled=5, unique=unique, range_max=8, seed=seed, seed2=2))
                    return list(tf.nn.learned_unigram_candidate_sampler(true, 2, 5, unique, 8, seed))
                found[f"{sampler} {unique} {seed}"] = drawn
    found["more than there are"] = lambda: list(tf.nn.learned_unigram_candidate_sampler(true, 2, 9, True, 8, 1))
    return found
