"""WAV files: whole and damaged, with other chunks, formats that are refused, and samples rounded."""
import struct

DATA = struct.pack("<6h", 0, 1, -1, 32767, -32768, 100)


def chunk(name, body, size=None):
    return name + struct.pack("<I", len(body) if size is None else size) + body


def wav(data=DATA, channels=1, rate=8000, bits=16, form=1, before=b"", after=b"", extra=b"", align=None, each_second=None,
    size=None,
        riff=b"RIFF", kind=b"WAVE"):
    align = channels * bits // 8 if align is None else align
    fields = struct.pack("<HHIIHH", form, channels, rate, align * rate if each_second is None else each_second, align, bits)
    return chunk(riff, kind + chunk(b"fmt ", fields + extra) + before + chunk(b"data", data, size) + after)


FILES = {
    "mono": wav(), "stereo": wav(channels=2), "three": wav(channels=3), "8 bits": wav(bits=8), "24 bits": wav(bits=24),
    "float": wav(bits=32, form=3), "extensible": wav(form=0xFFFE, extra=bytes(24)), "18 bytes": wav(extra=b"\0\0"),
    "17 bytes": wav(extra=b"\0"), "a list before": wav(before=chunk(b"LIST", b"abcd")),
    "an odd list": wav(before=chunk(b"LIST", b"abc")),
    "a list after": wav(after=chunk(b"LIST", b"abcd")), "two bytes after": wav(after=b"ab"), "RIFX": wav(riff=b"RIFX"),
    "AVI": wav(kind=b"AVI "), "larger than there": wav(size=100), "smaller": wav(size=4), "of odd size": wav(size=5),
    "empty": wav(size=0),
    "endless": wav(size=0xFFFFFFFF), "cut": wav()[:-3], "cut header": wav()[:30], "nothing": b"",
    "a wrong rate": wav(each_second=1),
    "a wrong size": wav(align=7), "rate 0": wav(rate=0), "no channels": wav(channels=0), "no data": wav(b"")[:-8],
    "two of data": wav(DATA[:4], after=chunk(b"data", DATA[4:])), "a large list": wav(before=b"LIST\xff\xff\xff\xff"),
    "half a frame": wav(DATA[:10], channels=2), "a large rate": wav(rate=2**31 - 1), "not fmt first": wav().replace(b"fmt ",
    b"junk")}


def cases(tf):
    found = {}
    for name, data in FILES.items():
        for channels, samples in ((-1, -1), (0, 2), (2, 10), (1, 3)):
            found[f"{name} {channels} {samples}"] = lambda data=data, channels=channels, samples=samples: list(
                tf.audio.decode_wav(data, desired_channels=channels, desired_samples=samples))
    halves = [[(k + 0.5) / 32768] for k in range(-4, 4)] + [[2.0], [-2.0], [0.99999]]
    found["halves"] = lambda: list(tf.audio.decode_wav(tf.audio.encode_wav(halves, 8000)))
    found["a vector"] = lambda: tf.audio.encode_wav([1.0, 2.0], 8000)
    found["two rates"] = lambda: tf.audio.encode_wav([[1.0]], [8000, 8000])
    return found
