#!/usr/bin/python3
"""The SigLIP vision tower in plain torch, float64, straight from a checkpoint: an independent witness for the oracle.

    siglip_torch.py MODEL IMAGE.npy OUT.npy     IMAGE [height, width, 3]
    siglip_torch.py --header MODEL              expected_tiny.h for the gradient picture of test_oracle.c

Written from models.md 1; shares nothing with the C code. Exit status 77: torch or numpy is not installed.
"""
import json
import struct
import sys

try:
    import numpy
    import torch
except ImportError:
    sys.exit(77)

TYPES = {"F32": torch.float32, "F16": torch.float16, "BF16": torch.bfloat16}


def read_tensors(path):
    with open(path, "rb") as file:
        data = file.read()
    length = struct.unpack("<Q", data[:8])[0]
    header = json.loads(data[8:8 + length])
    tensors = {}
    for name, entry in header.items():
        if name != "__metadata__":
            begin, end = (8 + length + offset for offset in entry["data_offsets"])
            flat = torch.frombuffer(bytearray(data[begin:end]), dtype=TYPES[entry["dtype"]])
            tensors[name] = flat.reshape(entry["shape"]).double()
    return tensors


def forward(config, tensors, image):
    """image: [height, width, 3] tensor. The pooled output, or the classifier's."""
    tower = config["vision_config"]
    width, heads, eps = tower["hidden_size"], tower["num_attention_heads"], tower["layer_norm_eps"]

    def get(name):
        return tensors["vision_model." + name]

    def linear(x, name):
        return torch.nn.functional.linear(x, get(name + ".weight"), get(name + ".bias"))

    def norm(x, name):
        return torch.nn.functional.layer_norm(x, (width,), get(name + ".weight"), get(name + ".bias"), eps)

    def mlp(x, name):
        return linear(torch.nn.functional.gelu(linear(x, name + ".fc1"), approximate="tanh"), name + ".fc2")

    def attend(q, k, v):
        q, k, v = (t.reshape(t.shape[0], heads, -1).transpose(0, 1) for t in (q, k, v))
        weights = torch.softmax(q @ k.transpose(1, 2) * (width // heads) ** -0.5, dim=-1)
        return (weights @ v).transpose(0, 1).reshape(-1, width)

    x = torch.nn.functional.conv2d(image.permute(2, 0, 1)[None], get("embeddings.patch_embedding.weight"),
                                   get("embeddings.patch_embedding.bias"), stride=tower["patch_size"])
    x = x[0].flatten(1).transpose(0, 1) + get("embeddings.position_embedding.weight")
    for layer in range(tower["num_hidden_layers"]):
        name = f"encoder.layers.{layer}."
        y = norm(x, name + "layer_norm1")
        q, k, v = (linear(y, f"{name}self_attn.{part}_proj") for part in "qkv")
        x = x + linear(attend(q, k, v), name + "self_attn.out_proj")
        x = x + mlp(norm(x, name + "layer_norm2"), name + "mlp")
    x = norm(x, "post_layernorm")
    weights = get("head.attention.in_proj_weight").split(width)
    biases = get("head.attention.in_proj_bias").split(width)
    q, k, v = (torch.nn.functional.linear(source, weight, bias)
               for source, weight, bias in zip((get("head.probe")[0], x, x), weights, biases))
    u = linear(attend(q, k, v), "head.attention.out_proj")
    x = u + mlp(norm(u, "head.layernorm"), "head.mlp")
    if "classifier.weight" in tensors:
        x = torch.nn.functional.linear(x, tensors["classifier.weight"], tensors["classifier.bias"])
    return x


def gradient(side):
    """The same picture as in test_oracle.c; exact in FP32."""
    index = numpy.arange(side * side * 3)
    return ((index * 7 % 256) / 128 - 1).astype(numpy.float32).reshape(side, side, 3)


def run(model, image):
    with open(model + "/config.json") as file:
        config = json.load(file)
    tensors = read_tensors(model + "/model.safetensors")
    if image is None:
        image = gradient(config["vision_config"]["image_size"])
    return forward(config, tensors, torch.from_numpy(image).double()).numpy().astype(numpy.float32)


if sys.argv[1] == "--header":
    values = [f"{v:.9g}f" if "." in f"{v:.9g}" else f"{v:.9g}.0f" for v in run(sys.argv[2], None).ravel()]
    print("/* Output of siglip-tiny, seed 1, for the gradient picture of test_oracle.c, computed in float64 by torch\n"
          " * 1.13 (Debian 12): tests/oracle/siglip_torch.py --header MODEL. */\n#pragma once\n")
    print("static const float expected_tiny[] = {")
    for i in range(0, len(values), 6):
        print("    " + ", ".join(values[i:i + 6]) + ",")
    print("};")
else:
    numpy.save(sys.argv[3], run(sys.argv[1], numpy.load(sys.argv[2])))
