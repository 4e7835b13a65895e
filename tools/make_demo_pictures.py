#!/usr/bin/env python3
"""Write the small pictures that the demos and the tests classify.

Two sets: the first 50 pictures of the Fashion-MNIST test set with their labels
(28x28 grey PNG, never seen in training), and three free photographs that ship
with scikit-image, as JPEG and PNG, to exercise decoding and resizing.

    tools/make_demo_pictures.py [--data DIR] [--root DIR]

Needs numpy, Pillow and scikit-image.
"""
import argparse
import gzip
import os

import numpy as np
from PIL import Image
import skimage.data

COUNT = 50
LONGEST_SIDE = 512

# file written, picture in scikit-image, what its documentation says about it
PHOTOS = [
    ("astronaut.jpg", "astronaut.png", "Eileen Collins, astronaut", "NASA",
     "NASA Great Images database, <https://flic.kr/p/r9qvLn>",
     "public domain (\"No known copyright restrictions, released into the public domain.\")"),
    ("coffee.jpg", "coffee.png", "Coffee cup (courtesy of Pikolo Espresso Bar)", "Rachel Michetti",
     "scikit-image, `skimage.data.coffee()`",
     "CC0 (\"No copyright restrictions. CC0 by the photographer (Rachel Michetti).\")"),
    ("chelsea.png", "chelsea.png", "Chelsea the cat", "Stefan van der Walt",
     "scikit-image, `skimage.data.chelsea()`",
     "CC0 (\"No copyright restrictions. CC0 by the photographer (Stefan van der Walt).\")"),
]


def read_idx(path):
    with gzip.open(path) as f:
        data = f.read()
    dims = data[3]
    shape = [int.from_bytes(data[4 + 4 * i:8 + 4 * i], "big") for i in range(dims)]
    return np.frombuffer(data, np.uint8, offset=4 + 4 * dims).reshape(shape)


def write_fashion(data, directory):
    images = read_idx(os.path.join(data, "t10k-images-idx3-ubyte.gz"))[:COUNT]
    labels = read_idx(os.path.join(data, "t10k-labels-idx1-ubyte.gz"))[:COUNT]
    os.makedirs(directory, exist_ok=True)
    with open(os.path.join(directory, "labels.txt"), "w") as f:
        for i, (image, label) in enumerate(zip(images, labels)):
            name = f"{i:02d}.png"
            Image.fromarray(image).save(os.path.join(directory, name), optimize=True)
            f.write(f"{name} {label}\n")


def write_photos(directory):
    source = os.path.dirname(skimage.data.__file__)
    os.makedirs(directory, exist_ok=True)
    lines = ["# Photographs in this directory", "",
             "All three come from scikit-image's sample data; title, author and licence are",
             "given as in its documentation (`skimage.data`).", ""]
    for name, original, title, author, origin, licence in PHOTOS:
        photo = Image.open(os.path.join(source, original)).convert("RGB")
        native = photo.size
        photo.thumbnail((LONGEST_SIDE, LONGEST_SIDE), Image.BICUBIC)
        path = os.path.join(directory, name)
        if name.endswith(".png"):
            photo.save(path, optimize=True)
            change = "PNG"
        else:
            photo.save(path, quality=90)
            change = "converted to JPEG, quality 90"
        if photo.size != native:
            change += ", reduced from {}x{} to {}x{}".format(*native, *photo.size)
        lines += [f"## {name}", "", f"- Title: {title}", f"- Author: {author}",
                  f"- Source: {origin}", f"- Licence: {licence}", f"- File: {change}", ""]
    with open(os.path.join(directory, "ATTRIBUTION.md"), "w") as f:
        f.write("\n".join(lines[:-1]) + "\n")


def main():
    root = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", default="/usr/share/datasets/fashion-mnist")
    parser.add_argument("--root", default=root, help="where models/ and demo/ are")
    args = parser.parse_args()
    write_fashion(args.data, os.path.join(args.root, "models", "fashion-siglip", "photos"))
    write_photos(os.path.join(args.root, "demo", "photos"))


if __name__ == "__main__":
    main()
