"""Images scaled and moved by each kernel, with their gradients, and what is refused."""
import numpy as np

RNG = np.random.RandomState(0)
IMAGES = RNG.rand(2, 9, 7, 2).astype(np.float32)
KERNELS = ("lanczos1", "lanczos3", "lanczos5", "gaussian", "box", "triangle", "keyscubic", "mitchellcubic")


def cases(tf):
    def scaled(scale=(1.3, 0.6), translation=(0.0, 0.0), size=(11, 5), images=IMAGES, **how):
        def build():
            x = tf.constant(images)
            found = tf.raw_ops.ScaleAndTranslate(images=x, size=size, scale=scale, translation=translation, **how)
            if images.dtype != np.float32:
                return [found]
            return [found, tf.gradients(found * found, x)[0]]
        return build

    found = {"bytes": scaled(images=(IMAGES * 255).astype(np.uint8)), "wide": scaled(images=IMAGES.astype(np.float64)),
             "another kernel": scaled(kernel_type="sinc"), "no scale": scaled((0.0, 1.0)), "backwards": scaled((1.0, -1.0)),
             "no size": scaled(size=(0, 3)), "one scale": scaled((1.0,)), "three sizes": scaled(size=(3, 3, 3)),
             "no image": scaled(images=IMAGES[:, :0])}
    for kind in KERNELS:
        for smooth in (True, False):
            for scale, translation in (((1.3, 0.6), (0.0, 0.0)), ((0.4, 2.5), (-1.25, 3.5)), ((1.0, 1.0), (20.0, 0.5))):
                found[f"{kind} {smooth} {scale} {translation}"] = scaled(scale, translation, kernel_type=kind, antialias=smooth)
    return found
