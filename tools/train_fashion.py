#!/usr/bin/env python3
"""Train `fashion-siglip`, a small SigLIP image classifier, on Fashion-MNIST.

The project needs a real checkpoint, with weights that mean something, small
enough to keep in the repository and free to redistribute.  This program makes
one from scratch on a CPU.  The network is exactly the vision tower of Hugging
Face's SigLIP (pre-norm encoder and attention-pooling head) followed by one
linear classifier on the pooled vector; weights are written as BF16 safetensors
under Hugging Face's names.

    tools/train_fashion.py OUT_DIR [--epochs N] [--data DIR] [--limit N]

After every epoch the checkpoint is written again, read back, compared with a
plain reference forward pass, and one line is added to OUT_DIR/training.log.
Needs only numpy and torch (1.13 or newer).
"""
import argparse
import ctypes
import gzip
import json
import math
import os
import time

import numpy as np
import torch
import torch.nn.functional as F

SIZE, PATCH, WIDTH, HEADS, MLP, LAYERS, EPS = 28, 4, 192, 4, 768, 6, 1e-6
GRID = SIZE // PATCH
TOKENS = GRID * GRID
HEAD_DIM = WIDTH // HEADS
CLASSES = ["T-shirt/top", "Trouser", "Pullover", "Dress", "Coat",
           "Sandal", "Shirt", "Sneaker", "Bag", "Ankle boot"]

SEED, BATCH, PEAK_LR, WEIGHT_DECAY = 1, 128, 1e-3, 0.05
WARMUP_STEPS, LABEL_SMOOTHING, MAX_SHIFT = 300, 0.05, 1
KEPT_TOKENS = 16        # tokens kept per picture while patches are dropped
FULL_FRACTION = 0.2     # the last part of the epochs uses all 49 tokens

CONFIG = {
    "architectures": ["SiglipForImageClassification"],
    "model_type": "siglip",
    "tessera_classifier_input": "pooler_output",
    "id2label": {str(i): name for i, name in enumerate(CLASSES)},
    "vision_config": {
        "hidden_size": WIDTH, "intermediate_size": MLP,
        "num_hidden_layers": LAYERS, "num_attention_heads": HEADS,
        "num_channels": 3, "image_size": SIZE, "patch_size": PATCH,
        "hidden_act": "gelu_pytorch_tanh", "layer_norm_eps": EPS,
        "attention_dropout": 0.0, "vision_use_head": True},
    "torch_dtype": "bfloat16"}

PREPROCESSOR = {
    "do_resize": True, "size": {"height": SIZE, "width": SIZE}, "resample": 3,
    "do_rescale": True, "rescale_factor": 0.00392156862745098,
    "do_normalize": True, "image_mean": [0.5] * 3, "image_std": [0.5] * 3,
    "do_convert_rgb": True}


# ---------------------------------------------------------------- data

def read_idx(path):
    with gzip.open(path) as f:
        data = f.read()
    dims = data[3]
    shape = [int.from_bytes(data[4 + 4 * i:8 + 4 * i], "big") for i in range(dims)]
    return torch.from_numpy(
        np.frombuffer(data, np.uint8, offset=4 + 4 * dims).reshape(shape).copy())


def load(directory, part):
    images = read_idx(os.path.join(directory, part + "-images-idx3-ubyte.gz"))
    labels = read_idx(os.path.join(directory, part + "-labels-idx1-ubyte.gz"))
    return images, labels.long()


def to_pixels(images):
    """[B,28,28] bytes -> [B,3,28,28] floats in [-1,1], grey in all channels."""
    x = (images.float() / 255 - 0.5) / 0.5
    return x[:, None].expand(-1, 3, -1, -1)


def to_patches(images):
    """[B,28,28] bytes -> [B,49,48]; a patch is laid out channel, row, column."""
    x = to_pixels(images).reshape(-1, 3, GRID, PATCH, GRID, PATCH)
    return x.permute(0, 2, 4, 1, 3, 5).reshape(-1, TOKENS, 3 * PATCH * PATCH)


def augment(images, rng):
    """Flip half of the pictures and shift each by up to MAX_SHIFT pixels."""
    b, m = len(images), MAX_SHIFT
    flip = torch.rand(b, generator=rng) < 0.5
    images = torch.where(flip[:, None, None], images.flip(2), images)
    padded = F.pad(images, (m, m, m, m))
    dy, dx = torch.randint(0, 2 * m + 1, (2, b, 1), generator=rng)
    rows, cols = dy + torch.arange(SIZE), dx + torch.arange(SIZE)
    return padded[torch.arange(b)[:, None, None], rows[:, :, None], cols[:, None, :]]


# ---------------------------------------------------------------- network

def init(rng):
    """Training parameters; q, k and v of a layer are one fused matrix."""
    p = {}

    def normal(name, shape, std):
        p[name] = torch.randn(shape, generator=rng) * std

    def linear(name, rows, cols, fan_out=None):
        bound = math.sqrt(6 / ((fan_out or rows) + cols))
        p[name + "weight"] = (torch.rand(rows, cols, generator=rng) * 2 - 1) * bound
        p[name + "bias"] = torch.zeros(rows)

    def norm(name):
        p[name + "weight"], p[name + "bias"] = torch.ones(WIDTH), torch.zeros(WIDTH)

    v = "vision_model."
    normal(v + "embeddings.patch_embedding.weight", (WIDTH, 3 * PATCH * PATCH), 48 ** -0.5)
    p[v + "embeddings.patch_embedding.bias"] = torch.zeros(WIDTH)
    normal(v + "embeddings.position_embedding.weight", (TOKENS, WIDTH), WIDTH ** -0.5)
    for i in range(LAYERS):
        b = f"{v}encoder.layers.{i}."
        norm(b + "layer_norm1.")
        linear(b + "self_attn.qkv.", 3 * WIDTH, WIDTH, fan_out=WIDTH)
        linear(b + "self_attn.out_proj.", WIDTH, WIDTH)
        norm(b + "layer_norm2.")
        linear(b + "mlp.fc1.", MLP, WIDTH)
        linear(b + "mlp.fc2.", WIDTH, MLP)
    norm(v + "post_layernorm.")
    h = v + "head."
    normal(h + "probe", (1, 1, WIDTH), WIDTH ** -0.5)
    linear(h + "attention.in_proj_", 3 * WIDTH, WIDTH, fan_out=WIDTH)
    linear(h + "attention.out_proj.", WIDTH, WIDTH)
    norm(h + "layernorm.")
    linear(h + "mlp.fc1.", MLP, WIDTH)
    linear(h + "mlp.fc2.", WIDTH, MLP)
    normal("classifier.weight", (len(CLASSES), WIDTH), 0.02)
    p["classifier.bias"] = torch.zeros(len(CLASSES))
    return {name: t.requires_grad_() for name, t in p.items()}


class GeluTanh(torch.autograd.Function):
    """x * sigmoid(2c(x + 0.044715 x^3)) = tanh-form GELU.

    torch's own tanh form is not vectorised on the CPU and costs more than the
    matrix product before it; this one works on slices that fit in the cache.
    """
    A = 2 * math.sqrt(2 / math.pi)
    B = A * 0.044715
    ROWS = 256

    @staticmethod
    def forward(ctx, x):
        y = torch.empty_like(x)
        for xs, ys in zip(x.split(GeluTanh.ROWS), y.split(GeluTanh.ROWS)):
            s = (xs * xs).mul_(GeluTanh.B).add_(GeluTanh.A).mul_(xs).sigmoid_()
            torch.mul(xs, s, out=ys)
        ctx.save_for_backward(x)
        return y

    @staticmethod
    def backward(ctx, grad):
        x, = ctx.saved_tensors
        out = torch.empty_like(x)
        for xs, gs, os_ in zip(*(t.split(GeluTanh.ROWS) for t in (x, grad, out))):
            x2 = xs * xs
            s = (x2 * GeluTanh.B).add_(GeluTanh.A).mul_(xs).sigmoid_()
            d = x2.mul_(3 * GeluTanh.B).add_(GeluTanh.A).mul_(xs)
            d.mul_(1 - s).add_(1).mul_(s)          # s + x s (1-s) u'
            torch.mul(d, gs, out=os_)
        return out


def dense(p, name, x):
    return F.linear(x, p[name + "weight"], p[name + "bias"])


def layer_norm(p, name, x):
    return F.layer_norm(x, (WIDTH,), p[name + "weight"], p[name + "bias"], EPS)


def mlp(p, name, x):
    return dense(p, name + "fc2.", GeluTanh.apply(dense(p, name + "fc1.", x)))


def attend(q, k, v):
    """q [B*H,Q,D], k and v [B*H,T,D] -> [B*H,Q,D]"""
    zero = q.new_zeros(1)
    scores = torch.baddbmm(zero, q, k.transpose(1, 2), beta=0, alpha=HEAD_DIM ** -0.5)
    return torch.bmm(scores.softmax(-1), v)


def forward(p, images, keep=None):
    """Logits [B,10]; `keep` [B,K] names the tokens kept of every picture."""
    v = "vision_model."
    patches = to_patches(images)
    position = p[v + "embeddings.position_embedding.weight"]
    if keep is not None:
        patches = patches.gather(1, keep[:, :, None].expand(-1, -1, patches.shape[2]))
        position = position.index_select(0, keep.flatten())
    b, t, _ = patches.shape
    x = dense(p, v + "embeddings.patch_embedding.", patches.reshape(b * t, -1))
    x = (x.view(-1, *position.shape) + position).view(b * t, WIDTH)

    def heads(y, n):                    # [B*T, n*W] -> n x [B*H, T, D]
        y = y.view(b, t, n, HEADS, HEAD_DIM).permute(2, 0, 3, 1, 4)
        return y.reshape(n, b * HEADS, t, HEAD_DIM).unbind(0)

    for i in range(LAYERS):
        n = f"{v}encoder.layers.{i}."
        q, k, w = heads(dense(p, n + "self_attn.qkv.", layer_norm(p, n + "layer_norm1.", x)), 3)
        y = attend(q, k, w).view(b, HEADS, t, HEAD_DIM).transpose(1, 2).reshape(b * t, WIDTH)
        x = x + dense(p, n + "self_attn.out_proj.", y)
        x = x + mlp(p, n + "mlp.", layer_norm(p, n + "layer_norm2.", x))
    x = layer_norm(p, v + "post_layernorm.", x)

    h = v + "head."
    w, bias = p[h + "attention.in_proj_weight"], p[h + "attention.in_proj_bias"]
    q = F.linear(p[h + "probe"].view(1, WIDTH), w[:WIDTH], bias[:WIDTH])
    q = q.view(1, HEADS, 1, HEAD_DIM).expand(b, -1, -1, -1).reshape(b * HEADS, 1, HEAD_DIM)
    k, w = heads(F.linear(x, w[WIDTH:], bias[WIDTH:]), 2)
    u = dense(p, h + "attention.out_proj.", attend(q, k, w).reshape(b, WIDTH))
    pooled = u + mlp(p, h + "mlp.", layer_norm(p, h + "layernorm.", u))
    return dense(p, "classifier.", pooled)


# ---------------------------------------------------------------- checkpoint

def export(p):
    """The parameters under Hugging Face's names and shapes."""
    out = {}
    for name, t in p.items():
        t = t.detach()
        if ".qkv." in name:
            for part, rows in zip("qkv", t.split(WIDTH)):
                out[name.replace(".qkv.", f".{part}_proj.")] = rows
        elif name.endswith("patch_embedding.weight"):
            out[name] = t.view(WIDTH, 3, PATCH, PATCH)
        else:
            out[name] = t
    return out


def replace_file(path, data):
    with open(path + ".tmp", "wb") as f:
        f.write(data)
    os.replace(path + ".tmp", path)


def save_safetensors(path, tensors):
    header, blobs, offset = {"__metadata__": {"format": "pt"}}, [], 0
    for name in sorted(tensors):
        # Tensor.bfloat16() rounds to nearest even.
        blob = tensors[name].contiguous().bfloat16().view(torch.int16).numpy().astype("<i2").tobytes()
        header[name] = {"dtype": "BF16", "shape": list(tensors[name].shape),
                        "data_offsets": [offset, offset + len(blob)]}
        offset += len(blob)
        blobs.append(blob)
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    replace_file(path, len(text).to_bytes(8, "little") + text + b"".join(blobs))


def load_safetensors(path):
    with open(path, "rb") as f:
        header = json.loads(f.read(int.from_bytes(f.read(8), "little")))
        data = f.read()
    out = {}
    for name, info in header.items():
        if name == "__metadata__":
            continue
        begin, end = info["data_offsets"]
        raw = np.frombuffer(data[begin:end], "<i2").copy()
        out[name] = torch.from_numpy(raw).view(torch.bfloat16).float().view(info["shape"])
    return out


def save_checkpoint(directory, p):
    for name, value in (("config.json", CONFIG), ("preprocessor_config.json", PREPROCESSOR)):
        replace_file(os.path.join(directory, name), (json.dumps(value, indent=2) + "\n").encode())
    save_safetensors(os.path.join(directory, "model.safetensors"), export(p))


def reference_forward(t, images):
    """The same network written plainly from the saved tensors."""
    def lin(name, x):
        return x @ t[name + ".weight"].T + t[name + ".bias"]

    def norm(name, x):
        return F.layer_norm(x, (WIDTH,), t[name + ".weight"], t[name + ".bias"], EPS)

    def feed(name, x):
        return lin(name + ".fc2", F.gelu(lin(name + ".fc1", x), approximate="tanh"))

    e = "vision_model.embeddings."
    x = F.conv2d(to_pixels(images), t[e + "patch_embedding.weight"],
                 t[e + "patch_embedding.bias"], stride=PATCH)
    x = x.flatten(2).transpose(1, 2) + t[e + "position_embedding.weight"]
    for i in range(LAYERS):
        n = f"vision_model.encoder.layers.{i}."
        y = norm(n + "layer_norm1", x)
        q, k, v = (lin(f"{n}self_attn.{c}_proj", y).unflatten(2, (HEADS, HEAD_DIM)).transpose(1, 2)
                   for c in "qkv")
        a = (q @ k.transpose(2, 3) * HEAD_DIM ** -0.5).softmax(-1) @ v
        x = x + lin(n + "self_attn.out_proj", a.transpose(1, 2).flatten(2))
        x = x + feed(n + "mlp", norm(n + "layer_norm2", x))
    x = norm("vision_model.post_layernorm", x)
    h = "vision_model.head."
    attention = torch.nn.MultiheadAttention(WIDTH, HEADS, batch_first=True)
    attention.load_state_dict({k[len(h + "attention."):]: v for k, v in t.items()
                               if k.startswith(h + "attention.")})
    u = attention(t[h + "probe"].expand(len(x), -1, -1), x, x)[0]
    pooled = (u + feed(h + "mlp", norm(h + "layernorm", u)))[:, 0]
    return lin("classifier", pooled)


# ---------------------------------------------------------------- training

@torch.no_grad()
def evaluate(p, images, labels):
    """Top-1 in percent with the weights as they are stored, rounded to BF16."""
    rounded = {name: t.bfloat16().float() for name, t in p.items()}
    right = sum((forward(rounded, x).argmax(1) == y).sum().item()
                for x, y in zip(images.split(100), labels.split(100)))
    return 100 * right / len(labels)


@torch.no_grad()
def compare(p, directory, images):
    """Largest logit difference between `forward` and the reference."""
    rounded = {name: t.bfloat16().float() for name, t in p.items()}
    stored = load_safetensors(os.path.join(directory, "model.safetensors"))
    return (forward(rounded, images) - reference_forward(stored, images)).abs().max().item()


def learning_rate(step, steps):
    warmup = min(WARMUP_STEPS, steps // 10)
    if step < warmup:
        return PEAK_LR * (step + 1) / warmup
    done = (step - warmup) / max(1, steps - warmup)
    return PEAK_LR * (0.001 + 0.999 * 0.5 * (1 + math.cos(math.pi * done)))


def keep_memory():
    """Ask glibc not to hand big buffers back after every operation."""
    try:
        libc = ctypes.CDLL(None)
        libc.mallopt(-4, 0)             # M_MMAP_MAX
        libc.mallopt(-1, 2 ** 31 - 1)   # M_TRIM_THRESHOLD
    except (OSError, AttributeError):
        pass


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("out_dir")
    parser.add_argument("--epochs", type=int, default=10)
    parser.add_argument("--data", default="/usr/share/datasets/fashion-mnist")
    parser.add_argument("--limit", type=int, help="use only the first N training and test pictures")
    args = parser.parse_args()

    keep_memory()
    torch.manual_seed(SEED)
    torch.set_num_threads(2)
    torch.use_deterministic_algorithms(True)
    rng = torch.Generator().manual_seed(SEED)

    os.makedirs(args.out_dir, exist_ok=True)
    log_file = open(os.path.join(args.out_dir, "training.log"), "w")

    def log(line):
        print(line, flush=True)
        print(line, file=log_file, flush=True)

    images, labels = (x[:args.limit] for x in load(args.data, "train"))
    test_images, test_labels = (x[:args.limit] for x in load(args.data, "t10k"))
    p = init(rng)
    matrices = [t for name, t in p.items() if t.dim() == 2 and "position" not in name]
    others = [t for name, t in p.items() if not (t.dim() == 2 and "position" not in name)]
    optimizer = torch.optim.AdamW([{"params": matrices, "weight_decay": WEIGHT_DECAY},
                                   {"params": others, "weight_decay": 0.0}],
                                  lr=PEAK_LR, betas=(0.9, 0.98), foreach=True)

    per_epoch = max(1, len(images) // BATCH)
    steps = per_epoch * args.epochs
    full_from = args.epochs - round(FULL_FRACTION * args.epochs)
    log(f"seed {SEED}, {sum(t.numel() for t in p.values())} parameters, {len(images)} pictures, "
        f"batch {BATCH}, {args.epochs} epochs of {per_epoch} steps, "
        f"{KEPT_TOKENS} of {TOKENS} tokens in the first {full_from}")

    for epoch in range(args.epochs):
        start, total = time.time(), 0.0
        order = torch.randperm(len(images), generator=rng)
        for i in range(per_epoch):
            for group in optimizer.param_groups:
                group["lr"] = learning_rate(epoch * per_epoch + i, steps)
            chosen = order[i * BATCH:(i + 1) * BATCH]
            batch = augment(images[chosen], rng)
            keep = None
            if epoch < full_from:
                keep = torch.rand(len(batch), TOKENS, generator=rng).argsort(1)[:, :KEPT_TOKENS]
            loss = F.cross_entropy(forward(p, batch, keep), labels[chosen],
                                   label_smoothing=LABEL_SMOOTHING)
            optimizer.zero_grad(set_to_none=True)
            loss.backward()
            torch.nn.utils.clip_grad_norm_(p.values(), 1.0)
            optimizer.step()
            total += loss.item()
            if (i + 1) % 100 == 0:
                print(f"  step {i + 1}: loss {total / (i + 1):.4f}, "
                      f"{(time.time() - start) / (i + 1):.3f} s/step", flush=True)
        save_checkpoint(args.out_dir, p)
        top1 = evaluate(p, test_images, test_labels)
        difference = compare(p, args.out_dir, test_images[:64])
        assert difference < 1e-4, f"forward differs from the reference by {difference}"
        log(f"epoch {epoch + 1}: loss {total / per_epoch:.4f}, test top-1 {top1:.2f} %, "
            f"{time.time() - start:.0f} s, reference difference {difference:.1e}")


if __name__ == "__main__":
    main()
