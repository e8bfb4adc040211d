"""Images: flips, crops, colors, random changes, boxes, crops that are resized, quality, codecs, errors."""
import numpy as np

RNG = np.random.RandomState(0)
BYTES = (RNG.rand(2, 5, 7, 3) * 255).astype(np.uint8)
FLOATS = RNG.rand(2, 5, 7, 3).astype(np.float32)
BOXES = np.array([[0.1, 0.15, 0.85, 0.95], [-0.2, 0.1, 0.6, 1.3], [0.7, 0.8, 0.2, 0.1]], np.float32)


def on_all(tf, functions):
    """Each function on a batch and on an image, of bytes and of floats, and on a batch of unknown sizes."""
    found = {}
    for name, function in functions.items():
        for kind, images in (("bytes", BYTES), ("floats", FLOATS)):
            found[f"{name} {kind}"] = lambda f=function, x=images: f(x)
            found[f"{name} one of {kind}"] = lambda f=function, x=images: f(x[0])

        def unknown(f=function):
            x = tf.placeholder(tf.uint8, [None, None, None, 3])
            return f(x), {x: BYTES}

        found[name + " unknown"] = unknown
    return found


def geometry(tf):
    image = tf.image
    functions = {
        "left_right": image.flip_left_right, "up_down": image.flip_up_down, "transpose": image.transpose_image,
        "pad": lambda x: image.pad_to_bounding_box(x, 1, 2, 9, 11),
        "crop": lambda x: image.crop_to_bounding_box(x, 1, 2, 3, 4), "standardize": image.per_image_standardization,
    }
    for k in (0, 1, 2, 3, 5):
        functions[f"rot90 {k}"] = lambda x, k=k: image.rot90(x, k)
    for fraction in (0.3, 0.87, 1.0):
        functions[f"central {fraction}"] = lambda x, q=fraction: image.central_crop(x, q)
    for size in ((3, 3), (9, 10), (3, 12), (5, 7)):
        functions["crop or pad {} {}".format(*size)] = lambda x, s=size: image.resize_image_with_crop_or_pad(x, *s)
    for method in range(4):
        functions[f"method {method}"] = lambda x, m=method: image.resize_images(x, [4, 9], method=m)
    found = on_all(tf, functions)
    for size in ((3, 3), (9, 10), (6, 4), (5, 7)):
        found["with pad {} {}".format(*size)] = lambda s=size: image.resize_image_with_pad(BYTES, *s)
    found["aspect"] = lambda: image.resize_images(BYTES, [10, 9], preserve_aspect_ratio=True)
    return found


def colors(tf):
    image = tf.image
    found = on_all(tf, {
        "brightness": lambda x: image.adjust_brightness(x, 0.2), "contrast": lambda x: image.adjust_contrast(x, 1.7),
        "gamma": lambda x: image.adjust_gamma(x, 0.7, 1.1), "hue": lambda x: image.adjust_hue(x, 0.3),
        "hue back": lambda x: image.adjust_hue(x, -0.9), "saturation": lambda x: image.adjust_saturation(x, 1.7),
        "gray": image.rgb_to_grayscale})
    for name in ("rgb_to_hsv", "hsv_to_rgb", "rgb_to_yiq", "yiq_to_rgb", "rgb_to_yuv", "yuv_to_rgb"):
        found[name] = lambda name=name: getattr(image, name)(FLOATS)
    found["to rgb"] = lambda: image.grayscale_to_rgb(tf.constant(FLOATS[..., :1]))

    def of_hsv():
        x = tf.constant(FLOATS)
        weights = np.cos(np.arange(FLOATS.size)).reshape(FLOATS.shape).astype(np.float32)
        return tf.gradients(image.rgb_to_hsv(x), x, tf.constant(weights))

    def of_hsv_again():
        x = tf.constant(np.concatenate([FLOATS.reshape(-1, 3), [[0, 0, 0], [1, 1, 1], [0, 1, 0]]]).astype(np.float32))
        y = image.rgb_to_hsv(x)
        once = tf.gradients(y, x, y)
        return tf.gradients(once, [x, y], once)

    found["of hsv"], found["of hsv again"] = of_hsv, of_hsv_again
    for source in ("uint8", "int16", "uint16", "int32", "float32", "float64", "float16"):
        for target in ("uint8", "int16", "int32", "float32", "float16"):
            for saturate in (False, True):
                array = FLOATS.astype(source) if "float" in source else BYTES.astype(source)
                found[f"{source} as {target} {saturate}"] = lambda x=array, t=target, s=saturate: (
                    image.convert_image_dtype(tf.constant(x), getattr(tf, t), saturate=s))
    return found


def random_changes(tf):
    image = tf.image
    functions = {
        "brightness": lambda s: image.random_brightness(FLOATS, 0.4, seed=s),
        "contrast": lambda s: image.random_contrast(FLOATS, 0.2, 1.8, seed=s),
        "hue": lambda s: image.random_hue(FLOATS, 0.3, seed=s),
        "saturation": lambda s: image.random_saturation(FLOATS, 0.2, 2.0, seed=s),
        "flip": lambda s: image.random_flip_left_right(FLOATS[0], seed=s),
        "flip batch": lambda s: image.random_flip_left_right(FLOATS, seed=s),
        "flip down": lambda s: image.random_flip_up_down(FLOATS[0], seed=s),
    }

    def seeded(function, seed, graph_seed):
        if graph_seed is not None:
            tf.set_random_seed(graph_seed)
        return function(seed)

    found = {f"random {name} {seed} {graph_seed}": lambda f=f, s=seed, g=graph_seed: seeded(f, s, g)
             for name, f in functions.items() for seed in (3, 77) for graph_seed in (None, 5)}
    one_box = np.array([[[0.2, 0.1, 0.8, 0.6]]], np.float32)
    for seed in range(1, 14):
        found[f"sample box {seed}"] = lambda s=seed: list(image.sample_distorted_bounding_box(
            [50, 70, 3], one_box, seed=s, seed2=2 * s, min_object_covered=[0.1, 0.5, 0.9][s % 3],
            area_range=[0.1 + 0.02 * s, 1.0], aspect_ratio_range=[0.5, 2.0]))
    found["sample no box"] = lambda: list(image.sample_distorted_bounding_box(
        [500, 333, 3], np.zeros((1, 0, 4), np.float32), seed=4, seed2=9, use_image_if_no_bounding_boxes=True))
    return found


def crops(tf):
    def resized(method, size):
        x, boxes = tf.constant(FLOATS), tf.constant(BOXES)
        y = tf.image.crop_and_resize(x, boxes, np.array([0, 1, 1], np.int32), size, method=method,
                                     extrapolation_value=0.3)
        weights = np.cos(np.arange(3 * size[0] * size[1] * 3)).reshape([3] + size + [3]).astype(np.float32)
        return [y, tf.gradients(y, [x, boxes] if method == "bilinear" else [x], tf.constant(weights))]

    found = {f"crop {method} {size}": lambda m=method, s=size: resized(m, list(s))
             for method in ("bilinear", "nearest") for size in ((3, 4), (1, 1), (6, 2))}
    found["crop bytes"] = lambda: tf.image.crop_and_resize(BYTES, BOXES, [0, 1, 1], [3, 3])
    found["crop nothing"] = lambda: tf.image.crop_and_resize(FLOATS, BOXES, [5, 6, 7], [2, 2])
    return found


def boxes(tf):
    image, rng = tf.image, np.random.RandomState(1)
    corners = rng.rand(40, 4).astype(np.float32)
    corners[:, 2:] = corners[:, :2] + rng.rand(40, 2) * 0.5
    scores = rng.rand(40).astype(np.float32)
    found = {}
    for overlap in (0.1, 0.5, 0.9):
        found[f"suppressed {overlap}"] = lambda t=overlap: [
            image.non_max_suppression(corners, scores, 10, t), image.non_max_suppression(corners, scores, 100, t, 0.3)]
    for sigma in (0.0, 0.5, 0.1):
        for least in (0.1, 0.4):
            found[f"soft {sigma} {least}"] = lambda s=sigma, t=least: list(
                image.non_max_suppression_with_scores(corners, scores, 15, 0.6, t, s))
    found["padded"] = lambda: list(image.non_max_suppression_padded(corners, scores, 30, 0.2, pad_to_max_output_size=True))
    many, classes = (rng.rand(2, 40, 3, 4) * 1.2).astype(np.float32), rng.rand(2, 40, 3).astype(np.float32)
    for pad in (False, True):
        for clip in (True, False):
            found[f"combined {pad} {clip}"] = lambda p=pad, c=clip: list(image.combined_non_max_suppression(
                many, classes, 5, 12, 0.3, 0.2, pad_per_class=p, clip_boxes=c))
    drawn = (rng.rand(2, 12, 4) * 1.4 - 0.2).astype(np.float32)
    drawn[:, :, 2:] = drawn[:, :, :2] + 0.4
    pictures = rng.rand(2, 20, 30, 3).astype(np.float32)
    found["drawn"] = lambda: image.draw_bounding_boxes(pictures, drawn)
    found["drawn gray"] = lambda: image.draw_bounding_boxes(pictures[..., :1], drawn)
    found["glimpse"] = lambda: image.extract_glimpse(pictures, [8, 9], np.array([[0.0, 0.0], [0.1, -0.2]], np.float32))
    found["glimpse corner"] = lambda: image.extract_glimpse(
        pictures, [7, 9], np.array([[0.5, 0.4], [0.6, 0.5]], np.float32), centered=False)
    found["glimpse pixels"] = lambda: image.extract_glimpse(
        pictures, [7, 9], np.array([[1.0, 2.0], [-1, 3]], np.float32), normalized=False)
    return found


def quality(tf):
    image, rng = tf.image, np.random.RandomState(2)
    first = rng.rand(2, 190, 180, 3).astype(np.float32)
    second = np.clip(first + rng.randn(*first.shape) * 0.05, 0, 1).astype(np.float32)
    return {
        "variation": lambda: [image.total_variation(tf.constant(FLOATS)), image.total_variation(tf.constant(FLOATS[0]))],
        "psnr": lambda: [image.psnr(tf.constant(first), tf.constant(second), 1.0),
                         image.psnr(tf.constant(BYTES), tf.constant(BYTES[::-1].copy()), 255)],
        "ssim": lambda: image.ssim(tf.constant(first), tf.constant(second), 1.0),
        "ssim scales": lambda: image.ssim_multiscale(tf.constant(first), tf.constant(second), 1.0),
        "slopes": lambda: list(image.image_gradients(tf.constant(FLOATS))),
        "edges": lambda: image.sobel_edges(tf.constant(FLOATS)),
    }


def codecs(tf):
    image, rng = tf.image, np.random.RandomState(3)
    found = {}
    for channels in (1, 2, 3, 4):
        pixels = (rng.rand(5, 7, channels) * 255).astype(np.uint8)
        for wanted in (0, 1, 3, 4):
            for dtype in ("uint8", "uint16"):
                found[f"png {channels} {wanted} {dtype}"] = lambda x=pixels, c=wanted, d=dtype: image.decode_png(
                    image.encode_png(tf.constant(x)), channels=c, dtype=getattr(tf, d))
    wide = (rng.rand(5, 7, 1) * 65535).astype(np.uint16)
    found["png 16"] = lambda: image.decode_png(image.encode_png(tf.constant(wide)), dtype=tf.uint16)

    def jpeg():
        data = image.encode_jpeg(BYTES[0])
        return [image.extract_jpeg_shape(data), tf.shape(image.decode_jpeg(data)), image.is_jpeg(data),
                tf.shape(image.decode_jpeg(data, ratio=2)), tf.shape(image.decode_jpeg(data, channels=1)),
                image.is_jpeg(image.encode_png(BYTES[0])), tf.shape(image.decode_image(data)),
                image.decode_image(image.encode_png(BYTES[0]), dtype=tf.float32)]

    found["jpeg"] = jpeg
    return found


def failures(tf):
    image = tf.image
    return {
        "flip matrix": lambda: image.flip_left_right(np.zeros((3, 4))),
        "flip rank 5": lambda: image.flip_left_right(np.zeros((1, 1, 1, 3, 4))),
        "flip nothing": lambda: image.flip_up_down(np.zeros((0, 3, 4))),
        "central 0": lambda: image.central_crop(FLOATS, 0.0),
        "pad smaller": lambda: image.pad_to_bounding_box(FLOATS, 1, 1, 2, 2),
        "pad before": lambda: image.pad_to_bounding_box(FLOATS, -1, 1, 2, 2),
        "crop larger": lambda: image.crop_to_bounding_box(FLOATS, 1, 1, 8, 8),
        "no method": lambda: image.resize_images(FLOATS, [4, 4], method=9),
        "size of 3": lambda: image.resize_images(FLOATS, [4, 4, 4]),
        "size of floats": lambda: image.resize_images(FLOATS, [4.0, 4.0]),
        "range": lambda: image.random_contrast(FLOATS, 2.0, 1.0),
        "as string": lambda: image.convert_image_dtype(FLOATS, tf.string), "no png": lambda: image.decode_png(b"abc"),
        "no jpeg": lambda: image.decode_jpeg(b"abc"), "no image": lambda: image.decode_image(b"abcdefgh"),
        "two channels": lambda: image.decode_png(image.encode_png(BYTES[0]), channels=2),
        "five channels": lambda: image.encode_png(np.zeros((2, 2, 5), np.uint8)),
        "four colors": lambda: image.rgb_to_hsv(np.zeros((2, 2, 4), np.float32)),
        "gray of three": lambda: image.grayscale_to_rgb(tf.constant(FLOATS)),
        "ssim too small": lambda: image.ssim(tf.constant(FLOATS), tf.constant(FLOATS), 1.0),
    }


def cases(tf):
    found = {}
    for part in (geometry, colors, random_changes, crops, boxes, quality, codecs, failures):
        found.update(part(tf))
    return found
