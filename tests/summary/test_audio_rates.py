"""Rates of sounds in summaries: a WAV file has whole ones, to the nearest, and none of 0."""
import io
import wave

import numpy as np
import pytest


@pytest.mark.parametrize("rate, whole", [(0.2, 1), (0.5, 1), (1.5, 2), (2.5, 2), (8000.0, 8000), (44100.7, 44101)])
def test_the_rate_of_a_file_is_whole(tf, rate, whole):
    made = tf.summary.audio("sound", tf.constant(np.sin(np.arange(8.0, dtype=np.float32)).reshape(1, 4, 2)), rate)
    with tf.Session() as session:
        (value,) = tf.Summary.FromString(session.run(made)).value
    assert value.audio.sample_rate == np.float32(rate)
    with wave.open(io.BytesIO(value.audio.encoded_audio_string)) as file:
        assert (file.getframerate(), file.getnchannels(), file.getnframes()) == (whole, 2, 4)


@pytest.mark.parametrize("rate", [0, -5])
def test_no_file_has_a_rate_of_none(tf, rate):
    with tf.Session() as session, pytest.raises(tf.errors.InvalidArgumentError, match="sample_rate must be in"):
        session.run(tf.audio.encode_wav(tf.zeros([4, 1]), rate))
