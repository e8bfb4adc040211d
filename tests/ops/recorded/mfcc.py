"""Cepstral coefficients of spectrograms."""
import numpy as np

RNG = np.random.RandomState(0)
# of one channel: at the second, TensorFlow's spectrogram goes on with the samples that it had left of the first
SOUND = (np.sin(np.arange(4000)[:, None] * 0.05) + RNG.randn(4000, 1) * 0.1).astype(np.float32)


def cases(tf):
    raw = tf.raw_ops

    def of_sound(rate, window, **how):
        spectrogram = raw.AudioSpectrogram(input=SOUND, window_size=window, stride=320, magnitude_squared=True)
        return [raw.Mfcc(spectrogram=spectrogram, sample_rate=rate, **how)]

    found = {f"{rate} {window} {how}": lambda rate=rate, window=window, how=how: of_sound(rate, window, **how)
             for rate in (8000, 16000, 44100) for window in (200, 480, 1000)
             for how in ({}, {"dct_coefficient_count": 40}, {"upper_frequency_limit": 7000.0, "lower_frequency_limit": 300.0},
                         {"filterbank_channel_count": 5, "dct_coefficient_count": 5})}
    found["silence"] = lambda: [raw.Mfcc(spectrogram=np.zeros((1, 2, 257), np.float32), sample_rate=16000)]
    found["a matrix"] = lambda: [raw.Mfcc(spectrogram=SOUND, sample_rate=16000)]
    found["limits"] = lambda: of_sound(16000, 480, upper_frequency_limit=20.0, lower_frequency_limit=300.0)
    found["rates"] = lambda: [raw.Mfcc(spectrogram=SOUND[None], sample_rate=[16000])]

    def of_unknown_rank():
        x = tf.placeholder(tf.float32)
        return [raw.Mfcc(spectrogram=x, sample_rate=16000)], {x: SOUND}

    return {**found, "unknown rank": of_unknown_rank}
