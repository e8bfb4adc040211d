"""Fourier and cosine transforms, windows, frames, the short-time Fourier transform, the mel scale."""
import numpy as np


def transforms(tf, rng):
    found = {}
    for rank in (1, 2, 3):
        suffix = "" if rank == 1 else f"{rank}d"
        real = rng.randn(3, 4, 5).astype(np.float32)
        z = (real + 1j * real[::-1]).astype(np.complex64)
        longer, shorter = [4, 5, 6][-rank:], [2, 3, 6][-rank:]
        rfft, irfft = getattr(tf.spectral, "rfft" + suffix), getattr(tf.spectral, "irfft" + suffix)
        fft, ifft = getattr(tf, "fft" + suffix), getattr(tf, "ifft" + suffix)
        found[f"rfft{rank}"] = lambda f=rfft, x=real: f(x)
        found[f"rfft{rank}_length"] = lambda f=rfft, x=real, n=longer: f(x, n)
        found[f"irfft{rank}"] = lambda f=irfft, z=z: f(z)
        found[f"irfft{rank}_shorter"] = lambda f=irfft, z=z, n=shorter: f(z, n)
        found[f"irfft{rank}_longer"] = lambda f=irfft, z=z, rank=rank: f(z, [5, 7, 11][-rank:])
        found[f"fft{rank}"] = lambda f=fft, g=ifft, z=z: [f(z), g(z)]
        if rank < 3:
            found[f"of_rfft{rank}"] = lambda f=rfft, x=real: of_real(tf, f, x)
            found[f"of_irfft{rank}"] = lambda f=irfft, z=z: of_complex(tf, f, z)
    return found


def of_real(tf, function, array):
    x = tf.constant(array)
    y = function(x)
    return tf.gradients(y, x, tf.cast(y * 0 + np.arange(3), tf.complex64) * (1 + 2j))


def of_complex(tf, function, array):
    z = tf.constant(array)
    y = function(z)
    return tf.gradients(y, z, y * 0 + np.arange(8))


def cases(tf):
    rng = np.random.RandomState(0)
    x = rng.randn(2, 50).astype(np.float32)
    frames = np.arange(70, dtype=np.float32).reshape(2, 5, 7)
    signal = tf.signal
    found = {
        "frame": lambda: signal.frame(x, 10, 4), "frame_end": lambda: signal.frame(x, 10, 4, pad_end=True, pad_value=2),
        "frame_axis": lambda: signal.frame(x.T, 10, 4, axis=0), "frame_short": lambda: signal.frame(x, 60, 4),
        "overlap": lambda: signal.overlap_and_add(frames, 3), "no_overlap": lambda: signal.overlap_and_add(frames, 7),
        "gaps": lambda: signal.overlap_and_add(frames, 9), "stft": lambda: signal.stft(x, 10, 4),
        "stft_length": lambda: signal.stft(x, 10, 4, fft_length=12, window_fn=None, pad_end=True),
        "inverse_stft": lambda: signal.inverse_stft(signal.stft(x, 16, 4), 16, 4),
        "inverse_stft_window": lambda: signal.inverse_stft(
            signal.stft(x, 16, 8), 16, 8, window_fn=signal.inverse_stft_window_fn(8)),
        "inverse_stft_odd": lambda: signal.inverse_stft(signal.stft(x, 10, 4), 10, 4),
        "idct": lambda: signal.idct(x, norm="ortho"), "mel": lambda: signal.linear_to_mel_weight_matrix(),
        "mel_wide": lambda: signal.linear_to_mel_weight_matrix(10, 65, 16000, 80.0, 7600.0, tf.float64),
        "mfcc": lambda: signal.mfccs_from_log_mel_spectrograms(x),
        "shift": lambda: [signal.fftshift(x), signal.ifftshift(x), signal.fftshift(x, axes=1),
                          signal.fftshift(np.arange(5.0)), signal.ifftshift(np.arange(5.0))],
        "dct_type": lambda: signal.dct(x, type=5),
    }
    for name in ("hann_window", "hamming_window"):
        for length in (1, 2, 5, 8):
            for periodic in (True, False):
                found[f"{name} {length} {periodic}"] = (
                    lambda name=name, n=length, p=periodic: getattr(signal, name)(n, periodic=p))
    for kind in (1, 2, 3):
        for norm in (None, "ortho"):
            for n in (None, 30, 70):
                if kind > 1 or norm is None:
                    found[f"dct{kind} {norm} {n}"] = (
                        lambda kind=kind, norm=norm, n=n: signal.dct(x, type=kind, n=n, norm=norm))
    return {**found, **transforms(tf, rng)}
