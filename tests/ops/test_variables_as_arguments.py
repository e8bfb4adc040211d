"""Functions whose plain arguments, sizes or axes or names, are variables: they read them, as TensorFlow does."""
import numpy as np
import pytest

IMAGE = np.arange(9.0, dtype=np.float32).reshape(3, 3, 1)

CALLS = {
    "tensordot": (lambda tf, v: tf.tensordot([[1.0, 2.0]], [[3.0, 4.0]], v([[1], [1]])), [[11.0]]),
    "rot90": (lambda tf, v: tf.image.rot90(IMAGE, v(1))[..., 0], np.rot90(IMAGE[..., 0])),
    "crop_to_bounding_box": (lambda tf, v: tf.image.crop_to_bounding_box(IMAGE, v(1), v(0), v(2), v(1))[..., 0],
                             IMAGE[1:, :1, 0]),
    "pad_to_bounding_box": (lambda tf, v: tf.image.pad_to_bounding_box(IMAGE, v(0), v(1), v(3), v(4))[..., 0],
                            np.pad(IMAGE[..., 0], [(0, 0), (1, 0)])),
    "resize_image_with_crop_or_pad": (lambda tf, v: tf.image.resize_image_with_crop_or_pad(IMAGE, v(1), v(3))[..., 0],
                                      IMAGE[1:2, :, 0]),
    "resize_image_with_pad": (lambda tf, v: tf.shape(tf.image.resize_image_with_pad(IMAGE, v(2), v(4))), [2, 4, 1]),
}


@pytest.mark.parametrize("resource", [False, True], ids=["reference", "resource"])
@pytest.mark.parametrize("call", CALLS)
def test_a_variable_stands_for_its_value(tf, call, resource):
    function, expected = CALLS[call]

    def variable(value):
        return tf.Variable(value, trainable=False, use_resource=resource)

    found = function(tf, variable)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        for _ in range(2):
            np.testing.assert_allclose(session.run(found), expected)
