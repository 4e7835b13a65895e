#!/usr/bin/python3
"""Makes pictures and what PIL does with them, for test_image.c.

    pil_cases.py DIRECTORY     random cases: files and DIRECTORY/cases (one case a line)
    pil_cases.py --vectors     the committed header pil_vectors.h (made with PIL 9.4, libjpeg-turbo 2.1)

Exit status 77: PIL or numpy is not installed.
"""
import io
import sys

try:
    import numpy
    from PIL import Image
except ImportError:
    sys.exit(77)

FILTERS = {0: Image.NEAREST, 1: Image.LANCZOS, 2: Image.BILINEAR, 3: Image.BICUBIC}


def pattern(width, height):
    """The picture of the committed vectors; test_image.c computes the same."""
    y, x, c = numpy.mgrid[0:height, 0:width, 0:3]
    return ((x * 37 + y * 91 + c * 53 + x * y * 7) % 256).astype(numpy.uint8)


def random_picture(rng, width, height):
    kind = rng.integers(3)
    if kind == 0:
        return rng.integers(0, 256, (height, width, 3), dtype=numpy.uint8)
    if kind == 1:  # black and white: overshoot in both directions
        return (rng.integers(0, 2, (height, width, 3)) * 255).astype(numpy.uint8)
    return pattern(width, height)


def stored_pictures(rng):
    """(name, file bytes): the kinds of PNG and JPEG that PIL writes, plus 16 bits and interlacing."""
    def encode(image, fmt, **options):
        out = io.BytesIO()
        image.save(out, fmt, **options)
        return out.getvalue()

    for width, height in [(1, 1), (17, 9), (32, 32), (61, 40)]:
        rgb = Image.fromarray(random_picture(rng, width, height))
        alpha = Image.fromarray(rng.integers(0, 256, (height, width), dtype=numpy.uint8))
        rgba = rgb.copy()
        rgba.putalpha(alpha)
        grey = rgb.convert("L")
        la = grey.copy()
        la.putalpha(alpha)
        for mode, image in [("rgb", rgb), ("rgba", rgba), ("l", grey), ("la", la), ("1", grey.convert("1")),
                            ("p", rgb.quantize(200)), ("p4", rgb.quantize(13)), ("p1", rgb.quantize(2))]:
            yield f"png-{mode}", encode(image, "PNG")
        yield "png-ptrns", encode(rgb.quantize(50), "PNG", transparency=3)
        yield "png-rgbtrns", encode(rgb, "PNG", transparency=(1, 2, 3))
        yield "png-ltrns", encode(grey, "PNG", transparency=7)
        yield "png-rgb16", png16(rng, width, height, 2)
        yield "png-rgba16", png16(rng, width, height, 6)
        yield "png-la16", png16(rng, width, height, 4)
        for depth in (1, 2, 4):
            yield f"png-l{depth}", png_grey(rng, width, height, depth)
        for quality in (30, 75, 95):
            for subsampling in (0, 1, 2):
                yield "jpg-rgb", encode(rgb, "JPEG", quality=quality, subsampling=subsampling)
        yield "jpg-prog", encode(rgb, "JPEG", quality=80, progressive=True)
        yield "jpg-l", encode(grey, "JPEG", quality=80)


def png_chunks(width, height, depth, colour, rows):
    import struct
    import zlib

    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    body = zlib.compress(b"".join(b"\0" + row for row in rows))
    return (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, depth, colour, 0, 0, 0))
            + chunk(b"IDAT", body) + chunk(b"IEND", b""))


def png16(rng, width, height, colour):
    channels = {2: 3, 6: 4, 4: 2}[colour]
    return png_chunks(width, height, 16, colour, [rng.bytes(width * channels * 2) for _ in range(height)])


def png_grey(rng, width, height, depth):
    return png_chunks(width, height, depth, 0, [rng.bytes((width * depth + 7) // 8) for _ in range(height)])


def write_cases(directory):
    rng = numpy.random.default_rng(4711)
    with open(f"{directory}/cases", "w") as cases:
        for index in range(90):
            width, height, out_width, out_height = (int(v) for v in rng.integers(1, 90, 4))
            if index % 9 == 0:
                width *= 7
            if index % 10 == 0:
                out_width = width
            if index % 14 == 0:
                out_height = height
            code = int(rng.integers(4)) if index % 3 else 3
            picture = random_picture(rng, width, height)
            result = Image.fromarray(picture).resize((out_width, out_height), FILTERS[code])
            picture.tofile(f"{directory}/{index}.in")
            numpy.asarray(result).tofile(f"{directory}/{index}.out")
            cases.write(f"resize {index} {width} {height} {out_width} {out_height} {code}\n")
        for index, (name, data) in enumerate(stored_pictures(rng), 1000):
            with open(f"{directory}/{index}.in", "wb") as out:
                out.write(data)
            image = Image.open(io.BytesIO(data)).convert("RGB")
            numpy.asarray(image).tofile(f"{directory}/{index}.out")
            cases.write(f"decode {index} {image.width} {image.height} {name}\n")


def c_array(name, data):
    lines = [", ".join(str(v) for v in data[i:i + 20]) for i in range(0, len(data), 20)]
    return f"static const uint8_t {name}[] = {{\n    " + ",\n    ".join(lines) + ",\n};\n"


def write_vectors():
    print("/* Made by tests/import/pil_cases.py --vectors with PIL 9.4 (Debian 12); do not edit.\n"
          " * resized_N: pattern of 13 x 11 resized to 6 x 17 by PIL filter N. file_*, rgb_*: a file and its RGB. */\n"
          "#pragma once\n#include <stdint.h>\n")
    for code, how in FILTERS.items():
        result = Image.fromarray(pattern(13, 11)).resize((6, 17), how)
        print(c_array(f"resized_{code}", result.tobytes()))
    rgba = Image.fromarray(pattern(5, 4))
    rgba.putalpha(Image.fromarray(pattern(5, 4)[:, :, 0]))
    for name, image, fmt in [("rgba", rgba, "PNG"), ("palette", Image.fromarray(pattern(5, 4)).quantize(6), "PNG"),
                             ("grey", Image.fromarray(pattern(5, 4)[:, :, 1]), "PNG"),
                             ("jpeg", Image.fromarray(pattern(9, 6)), "JPEG")]:
        out = io.BytesIO()
        image.save(out, fmt)
        print(c_array(f"file_{name}", out.getvalue()))
        print(c_array(f"rgb_{name}", Image.open(out).convert("RGB").tobytes()))


if sys.argv[1] == "--vectors":
    write_vectors()
else:
    write_cases(sys.argv[1])
