"""Operations on images at unusual values: boxes that touch, tie or are empty, colors below 0, sizes that stay as they are."""
import numpy as np

F32 = np.float32


def boxes(count, seed):
    corners = np.random.RandomState(seed).rand(count, 4).astype(F32)
    first, last = np.minimum(corners[:, :2], corners[:, 2:]), np.maximum(corners[:, :2], corners[:, 2:]) + F32(0.3)
    return np.concatenate([first, last], 1)


def suppressed(tf):
    """Boxes kept of scores that differ, tie or are no numbers, at thresholds that overlaps reach."""
    plain = boxes(12, 0)
    squares = np.array([[0, 0, 1, 1], [0, 0, 1, 2], [0, 1, 1, 2], [0, 2, 1, 3], [0, 2, 1, 4]], F32)    # overlap by 0, 0.5 and 1
    empty = plain.copy()
    empty[3], empty[4], empty[5] = [0.2, 0.2, 0.2, 0.9], [1, 1, 0, 0], [0.5, 0.5, 0.5, 0.5]
    scores = {"": np.random.RandomState(3).rand(12).astype(F32), " tied": np.ones(12, F32),
              " odd": np.array([.5, .5, .9, np.nan, .1, -1, np.inf, .5, -np.inf, .9, 0, .3], F32)}
    found, image = {}, tf.image
    for kind, score in scores.items():
        for threshold in (0.0, 0.3, 0.5, 1.0):
            for least in (-np.inf, 0.4):
                for limit in (9,):
                    def padded(s=score, n=limit, t=threshold, m=least):
                        return [image.non_max_suppression_padded(b, s, n, t, m, True) for b in (plain, empty)]

                    def decayed(s=score, n=limit, t=threshold, m=least):
                        return [image.non_max_suppression_with_scores(b, s, n, t, m, 0.5) for b in (plain, empty)]

                    def given(s=score, n=limit, t=threshold, m=least):
                        overlaps = np.random.RandomState(1).rand(12, 12).astype(F32)
                        return image.non_max_suppression_overlaps(overlaps, s, n, t, m)

                    name = f"{kind} {threshold} {least} {limit}"
                    found.update({"padded" + name: padded, "decayed" + name: decayed, "overlaps" + name: given})
    for threshold in (0.0, 0.5, 1.0):
        found[f"touching {threshold}"] = lambda t=threshold: image.non_max_suppression(
            squares, np.array([0.9, 0.8, 0.7, 0.6, 0.5], F32), 5, t)
    found["many tied"] = lambda: image.non_max_suppression(boxes(300, 4), np.repeat(np.array([0.5, 0.25, 0.75], F32), 100), 40, 0.6)
    return found


def turned(tf):
    """The hue of colors, of which some are below 0 or above 1."""
    found = {}
    for dtype in ("uint8", "int8", "int16", "float16", "float32"):
        colors = np.random.RandomState(0).uniform(-1, 1.5, (2, 3, 4, 3))
        if dtype[0] != "f":
            colors = np.clip(colors, -1, 1) * np.iinfo(dtype).max
        colors = colors.astype(dtype)
        for delta in (-1.0, -0.3, 0.0, 0.1, 0.5, 1.0):
            found[f"hue {dtype} {delta}"] = lambda x=colors, d=delta: [
                tf.image.adjust_hue(x, d), tf.image.adjust_hue(x[0], d)]
    flat = np.array([[0.5, 0.5, 0.5], [-0.5, -0.5, -0.5], [0, 0, 0], [1, 1, 0], [0, 1, 1], [1, 0, 1], [-1, -2, -3]], F32)
    found["hue of gray and of pairs"] = lambda: [tf.image.adjust_hue(flat[None], d) for d in (0.0, 1 / 6, -1 / 3, 0.99)]
    return found


def kept(tf):
    """Images resized to the size that they have, with their proportions kept or not."""
    found = {}
    for dtype in ("uint8", "int32", "float16", "float32"):
        for method in range(4):
            for size in ((4, 5), (8, 5), (4, 50)):
                image = np.random.RandomState(0).uniform(0, 99, (4, 5, 3)).astype(dtype)
                found[f"proportions {dtype} {method} {size}"] = lambda x=image, m=method, s=size: [
                    tf.image.resize_images(y, s, m, preserve_aspect_ratio=p) for y in (x, x[None]) for p in (False, True)]
    return found


def cases(tf):
    return {**suppressed(tf), **turned(tf), **kept(tf)}
