"""Files of images decoded: PNG of every depth, color type and transparency, whole and damaged, and others by each decoder."""
import base64
import struct
import zlib

import numpy as np

HEIGHT, WIDTH = 5, 7
END = (b"IEND", b"")
CHANNELS = {0: 1, 2: 3, 3: 1, 4: 2, 6: 4}
PASSES = ((0, 0, 8, 8), (0, 4, 8, 8), (4, 0, 8, 4), (0, 2, 4, 4), (2, 0, 4, 2), (0, 1, 2, 2), (1, 0, 2, 1))   # interlaced
SIGNATURE = b"\x89PNG\r\n\x1a\n"

GIF = base64.b64decode("R0lGODdhAwACAIEAAP8AAAAA/wAAAAAAACwAAAAAAwACAAAIBwABBBA4MCAAOw==")
TWO_FRAMES = base64.b64decode(
    "R0lGODdhAwACAIEAAP8AAAAA/wAAAAAAACwAAAAAAwACAAAIBwABBBA4MCAAIfkEAQAAAgAsAAAAAAMAAgCBAP8AAAAAAAAAAAAACAcAAQQQKDAgADs=")
BMP = (b"BM" + struct.pack("<IHHI", 70, 0, 0, 54) + struct.pack("<IiiHHIIiiII", 40, 2, 2, 1, 24, 0, 16, 2835, 2835, 0, 0) +
       bytes(range(10, 16)) + b"\0\0" + bytes(range(200, 206)) + b"\0\0")


def chunk(kind, body, checksum=None):
    return struct.pack(">I", len(body)) + kind + body + (checksum or struct.pack(">I", zlib.crc32(kind + body)))


def header(depth, color, interlaced=False, width=WIDTH, height=HEIGHT):
    return b"IHDR", struct.pack(">IIBBBBB", width, height, depth, color, 0, 0, int(interlaced))


def filtered(rows, unit, rng):
    """Rows of bytes, each behind a filter drawn for it and its number."""
    out, above = b"", np.zeros(rows.shape[1] + unit, np.int64)
    for row in rows.astype(np.int64):
        row = np.concatenate([np.zeros(unit, np.int64), row])
        left, up, corner = row[:-unit], above[unit:], above[:-unit]
        guess = left + up - corner
        paeth = np.where((abs(guess - left) <= abs(guess - up)) & (abs(guess - left) <= abs(guess - corner)), left,
                         np.where(abs(guess - up) <= abs(guess - corner), up, corner))
        kind = rng.randint(5)
        out += bytes([kind]) + ((row[unit:] - (0, left, up, (left + up) // 2, paeth)[kind]) % 256).astype(np.uint8).tobytes()
        above = row
    return out


def pixels(samples, depth, interlaced, rng):
    """The body of the chunk of pixels."""
    out = b""
    for y, x, down, right in PASSES if interlaced else ((0, 0, 1, 1),):
        part = samples[y::down, x::right]
        if part.size:
            flat = part.reshape(len(part), -1)
            bits = (flat[..., None] >> np.arange(depth)[::-1] & 1).reshape(len(part), -1).astype(np.uint8)
            out += filtered(np.packbits(bits, 1), max(depth * samples.shape[2] // 8, 1), rng)
    return b"IDAT", zlib.compress(out)


def png(*chunks):
    return SIGNATURE + b"".join(chunk(*one) for one in chunks)


def kinds():
    """{what it is: a PNG file}."""
    rng, found = np.random.RandomState(5), {}
    for color, depths in ((0, (1, 2, 4, 8, 16)), (2, (8, 16)), (3, (1, 2, 4, 8)), (4, (8, 16)), (6, (8, 16))):
        for depth in depths:
            top = min(1 << depth, 9) if color == 3 else 1 << depth
            samples = rng.randint(0, top, (HEIGHT, WIDTH, CHANNELS[color]))
            if color in (2, 6):
                samples[1, 2, :3] = samples[1, 2, 0]                    # a color that is gray
            palette = [(b"PLTE", rng.randint(0, 256, 3 * top).astype(np.uint8).tobytes())] if color == 3 else []
            more = {"": [], " with gamma": [(b"gAMA", struct.pack(">I", 60000))]}
            if color == 3:
                more[" transparent"] = [(b"tRNS", rng.randint(0, 256, top - 1).astype(np.uint8).tobytes())]
            elif color in (0, 2):
                more[" transparent"] = [(b"tRNS", struct.pack(f">{samples.shape[2]}H", *samples[0, 0]))]
            body = pixels(samples, depth, False, rng)
            for name, chunks in more.items():
                found[f"color {color}, depth {depth}{name}"] = png(header(depth, color), *palette, *chunks, body, END)
            found[f"color {color}, depth {depth} interlaced"] = png(header(depth, color, True), *palette,
                                                                   pixels(samples, depth, True, rng), END)
    return found


def unusual():
    """{what it is: a PNG file with a chunk that is out of place, or damaged}."""
    rng = np.random.RandomState(6)
    samples = rng.randint(0, 256, (HEIGHT, WIDTH, 3))
    head, text, wrong = header(8, 2), (b"tEXt", b"a\0b"), (b"abcd",)
    body = pixels(samples, 8, False, rng)[1]
    plain, rows = (b"IDAT", body), zlib.decompress(body)
    srgb, key = (b"sRGB", b"\0"), b"".join(b"\0" + bytes([int(one)]) for one in samples[0, 0])

    def gamma(value):
        return b"gAMA", struct.pack(">I", value)

    def some(*chunks):                      # between the header and the pixels
        return png(head, *chunks, plain, END)

    def image(data):                        # other pixels
        return png(head, (b"IDAT", data), END)

    def headed(*what, **size):              # another header
        return png(header(*what, **size), plain, END)

    whole = some()
    files = {
        "no end": png(head, plain),
        "more after the end": whole + b"more",
        "wrong checksum of pixels": png(head, plain + wrong, END),
        "wrong checksum of the header": png(head + wrong, plain, END),
        "wrong checksum of a text": some(text + wrong),
        "wrong checksum of the end": png(head, plain, END + wrong),
        "wrong checksum of a gamma": some(gamma(60000) + wrong),
        "texts": png(head, text, plain, text, END),
        "a chunk of unknown type": some((b"ABCD", b"")),
        "a chunk that may be unknown": some((b"abCD", b"")),
        "signature alone": SIGNATURE,
        "pixels in two chunks": png(head, (b"IDAT", body[:20]), (b"IDAT", body[20:]), END),
        "a text between pixels": png(head, (b"IDAT", body[:20]), text, (b"IDAT", body[20:]), END),
        "pixels that end early": image(zlib.compress(rows[:-5])),
        "too many pixels": image(zlib.compress(rows + b"12345")),
        "an unknown filter": image(zlib.compress(b"\x09" + rows[1:])),
        "no pixels": png(head, END),
        "no width": headed(8, 2, width=0),
        "too large": headed(8, 2, width=1 << 30, height=1 << 30),
        "larger than its pixels": headed(8, 2, width=9000, height=9000),
        "depth 3": headed(3, 2),
        "color type 5": headed(8, 5),
        "no palette": headed(8, 3),
        "a palette of colors": some((b"PLTE", bytes(range(9)))),
        "a palette cut off": png(header(8, 3), (b"PLTE", bytes(range(8))), plain, END),
        "a short palette": png(header(8, 3, width=3, height=1), (b"PLTE", bytes(range(6))),
                               (b"IDAT", zlib.compress(b"\0\0\1\5")), END),
        "sRGB": some(srgb),
        "gamma, then sRGB": some(gamma(60000), srgb),
        "sRGB, then gamma": some(srgb, gamma(60000)),
        "two gammas": some(gamma(60000), gamma(45455)),
        "gamma after pixels": png(head, plain, gamma(60000), END),
        "transparency after pixels": png(head, plain, (b"tRNS", key), END),
        "transparency cut off": some((b"tRNS", b"abc")),
        "two transparencies": some((b"tRNS", key), (b"tRNS", b"\0\1\0\1\0\1")),
        "transparency of 16 bits": some((b"tRNS", key.replace(b"\0", b"\1"))),
        "significant bits": some((b"sBIT", b"\5\6\5")),
        "a background": some((b"bKGD", b"\0\1\0\2\0\3")),
    }
    for value in (0, 15, 16, 90000, 94000, 96000, 100000, 220000, 700000000):
        files[f"gamma {value}"] = some(gamma(value))
    for length in (4, 20, 60, len(whole) - 14, len(whole) - 1):
        files[f"the first {length} bytes"] = whole[:length]
    return files


def cases(tf):
    def decoded(data, channels):
        def build():
            found = [tf.image.decode_png(data, channels), tf.image.decode_png(data, channels, tf.uint16),
                     tf.image.decode_image(data, channels), tf.image.decode_image(data, channels, tf.uint16)]
            if channels < 4:
                found.append(tf.image.decode_jpeg(data, channels))
            return [tf.stack([tf.cast(one, tf.uint16) for one in found])]
        return build

    def one(op, data, *arguments):
        return lambda: [getattr(tf.image, op)(data, *arguments)]

    found = {f"{name}, {channels} channels": decoded(data, channels)
             for name, data in kinds().items() for channels in (0, 1, 3, 4)}
    found.update((f"{name}, {channels} channels", one("decode_png", data, channels))
                 for name, data in unusual().items() for channels in (0, 1, 4))
    files = {"PNG": kinds()["color 2, depth 16"], "GIF": GIF, "two frames": TWO_FRAMES, "BMP": BMP, "nothing": b"",
             "text": b"no 'image'\n\xff"}
    for name, data in files.items():
        for channels in (0, 1, 3, 4):
            found[f"decode_jpeg of {name}, {channels}"] = one("decode_jpeg", data, channels)
            found[f"decode_png of {name}, {channels}"] = one("decode_png", data, channels)
            for kind in ("uint8", "uint16", "int32", "float16", "float32", "float64"):
                found[f"decode_image of {name}, {channels}, {kind}"] = one("decode_image", data, channels,
                                                                           getattr(tf, kind))
        found[f"decode_png of {name}, uint16"] = one("decode_png", data, 0, tf.uint16)
        found[f"decode_gif of {name}"] = one("decode_gif", data)
        found[f"decode_bmp of {name}"] = one("decode_bmp", data)
        found[f"ratio 2 of {name}"] = one("decode_jpeg", data, 0, 2)
        found[f"shape of {name}"] = one("extract_jpeg_shape", data)
    return found
