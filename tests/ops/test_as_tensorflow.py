"""What TensorFlow 1.15.5 says of ops for which no other file of tests is: static shapes, refusals, bytes."""
import numpy as np
import pytest


def test_a_fused_convolution_states_its_sizes(tf):
    paddings, filters = [[0, 0], [1, 1], [2, 0], [0, 0]], np.zeros((3, 2, 3, 2), np.float32)

    def shapes(image, **given):
        x = tf.placeholder(tf.float32, image)
        options = dict(filter=filters, mode="REFLECT", strides=[1, 1, 2, 1], padding="VALID")
        return [y.shape.as_list() for y in (
            tf.raw_ops.FusedPadConv2D(input=x, paddings=given.get("paddings", paddings), **options),
            tf.raw_ops.FusedResizeAndPadConv2D(input=x, size=given.get("size", [6, 6]), paddings=paddings, **options))]

    assert shapes([2, 5, 4, 3]) == [[2, 5, 3, 2], [2, 6, 4, 2]]
    assert shapes([2, None, 4, 3]) == [[2, None, 3, 2], [2, 6, 4, 2]]
    assert shapes(None) == [[None, None, None, 2], [None, 6, 4, 2]]
    unknown = dict(paddings=tf.placeholder(tf.int32, [4, 2]), size=tf.placeholder(tf.int32, [2]))
    assert shapes([2, 5, 4, 3], **unknown) == [[None, None, None, 2], [2, None, None, 2]]


def test_a_crop_states_its_sizes(tf):
    contents = tf.placeholder(tf.string, [])
    assert tf.image.decode_and_crop_jpeg(contents, [1, 2, 3, 4], channels=3).shape.as_list() == [3, 4, 3]
    assert tf.image.decode_and_crop_jpeg(contents, tf.placeholder(tf.int32, [4])).shape.as_list() == [None, None, None]


def test_joined_strings_keep_their_rank_if_asked_to(tf):
    x, axes = tf.placeholder(tf.string, [2, 3]), tf.placeholder(tf.int32, [1])
    assert tf.raw_ops.ReduceJoin(inputs=x, reduction_indices=axes, keep_dims=True).shape.as_list() == [None, None]
    assert tf.raw_ops.ReduceJoin(inputs=x, reduction_indices=axes).shape.ndims is None


@pytest.mark.parametrize("jit", ["off", "always"])
def test_approximately_equal_are_tensors_of_one_shape(tf, jit):
    with pytest.raises(ValueError, match="must be equal|not compatible|incompatible"):
        tf.raw_ops.ApproximateEqual(x=tf.zeros([2, 3]), y=tf.zeros([3]))
    x, y = tf.placeholder(tf.float32), tf.placeholder(tf.float32)
    z = tf.raw_ops.ApproximateEqual(x=x, y=y, tolerance=0.5)
    with tf.Session(jit=jit) as session:
        assert session.run(z, {x: [1, 2], y: [1.5, 3]}).tolist() == [True, False]
        with pytest.raises(tf.errors.InvalidArgumentError):
            session.run(z, {x: [1, 2], y: 1.0})


SERIALIZED = [      # values, and the second of the three strings that TensorFlow makes of them
    (np.array([b"ab"], object), b'\x08\x07\x12\x04\x12\x02\x08\x01"\x03\x02ab'),
    (np.array([True]), b'\x08\n\x12\x04\x12\x02\x08\x01"\x01\x01'),
    (np.array([2], np.float32), b'\x08\x01\x12\x04\x12\x02\x08\x01"\x04\x00\x00\x00@'),
]


@pytest.mark.parametrize("values, text", SERIALIZED)
def test_a_sparse_tensor_as_strings_holds_the_bytes_of_its_elements(tf, run, values, text):
    serialized = tf.serialize_sparse(tf.SparseTensor(np.array([[0, 1]]), values, [2, 2]))
    assert run(serialized).tolist()[1] == text
    dtype = tf.string if values.dtype == object else tf.as_dtype(values.dtype)
    assert run(tf.raw_ops.DeserializeSparse(serialized_sparse=serialized, dtype=dtype))[1].tolist() == values.tolist()


def test_strings_that_end_too_soon_are_refused(tf, run):
    shape = b"\x08\t\x12\x04\x12\x02\x08\x02\"\x10" + b"\x02\0\0\0\0\0\0\0" * 2
    places = b"\x08\t\x12\x08\x12\x02\x08\x01\x12\x02\x08\x02\"\x10" + b"\0" * 16
    for text in (b'\x08\x07\x12\x04\x12\x02\x08\x01"\x03\x05ab', b'\x08\x07\x12\x04\x12\x02\x08\x01"\x01\x85'):
        with pytest.raises(tf.errors.InvalidArgumentError):
            run(tf.raw_ops.DeserializeSparse(serialized_sparse=[places, text, shape], dtype=tf.string))
