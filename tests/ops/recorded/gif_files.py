"""GIF files: several frames, each on the one before, with disposals and transparent colors that mean nothing, whole and damaged."""
import struct

PALETTE = bytes(n for k in range(16) for n in (16 * k, 255 - 16 * k, 40 * k % 256))
OTHER = bytes(5 * k % 256 for k in range(48))
FULL, PART = [k % 16 for k in range(24)], [5, 6, 7, 8]


def packed(pixels):
    """Pixels of 4 bits, with a clear code before the codes grow."""
    codes = [code for k, pixel in enumerate(pixels) for code in ([16, pixel] if k % 14 == 0 else [pixel])] + [17]
    bits = "".join(f"{code:05b}"[::-1] for code in codes)
    body = bytes(int(bits[k:k + 8][::-1], 2) for k in range(0, len(bits), 8))
    return bytes([4, len(body)]) + body + b"\0"


def head(width, height, palette=PALETTE):
    return b"GIF89a" + struct.pack("<HHBBB", width, height, 0xF3 if palette else 0x70, 2, 0) + palette


def control(disposal, transparent):
    return b"\x21\xf9\x04" + struct.pack("<BHBB", disposal << 2 | (transparent is not None), 0, transparent or 0, 0)


def frame(left, top, width, height, pixels, palette=b"", interlaced=False):
    flags = (0x83 if palette else 0) | (0x40 if interlaced else 0)
    return b"," + struct.pack("<HHHHB", left, top, width, height, flags) + palette + packed(pixels)


WHOLE = frame(0, 0, 6, 4, FULL)
ONE = head(6, 4) + WHOLE
FILES = {
    "one": ONE + b";", "own colors": head(6, 4) + frame(0, 0, 6, 4, FULL, OTHER) + WHOLE + b";", "no colors": head(6, 4,
    b"") + WHOLE + b";",
    "own colors alone": head(6, 4, b"") + frame(0, 0, 6, 4, FULL, OTHER) + b";", "interlaced": head(6, 4) + frame(
        0, 0, 6, 4, FULL, interlaced=True) + b";", "beyond": ONE + frame(5, 3, 2, 2, PART) + b";", "a small canvas": head(2,
        2) + WHOLE + b";",
    "no canvas": head(0, 0) + WHOLE + b";", "a small first": head(6, 4) + frame(1, 1, 2, 2, PART) + WHOLE + b";",
    "a comment": head(6, 4) + b"\x21\xfe\x03abc\0" + WHOLE + b";", "a loop": head(6,
    4) + b"\x21\xff\x0bNETSCAPE2.0\x03\x01\0\0\0" + WHOLE + b";",
    "no end": ONE, "cut": (ONE + WHOLE)[:-9], "cut in the first": ONE[:-9], "no frame": head(6, 4) + b";",
    "few pixels": head(6, 4) + frame(0, 0, 6, 4, FULL[:10]) + b";", "many pixels": head(6, 4) + frame(0, 0, 6, 4,
    FULL + FULL) + b";",
    "more behind": ONE + b";abc", "a head": head(6, 4)[:10], "87a": b"GIF87a" + ONE[6:] + b";", "88a": b"GIF88a" + ONE[6:] + b";",
    "an empty frame": head(6, 4) + frame(0, 0, 0, 0, []) + b";",
    **{f"disposal {disposal}, transparent {color}": ONE[:61] + control(disposal, color) + WHOLE + control(disposal, color) + frame(
        2, 1, 2, 2, PART) + control(disposal, color) + frame(4, 2, 2, 2,
            PART) + b";" for disposal in range(4) for color in (None, 5, 0)}}


def cases(tf):
    decoders = {"gif": tf.image.decode_gif, "image": tf.image.decode_image, "png": tf.image.decode_png}
    return {f"{kind} {name}": lambda decode=decode, data=data: decode(data) for kind, decode in decoders.items()
            for name, data in FILES.items()}
