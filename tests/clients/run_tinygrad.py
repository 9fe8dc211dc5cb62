# SPDX-License-Identifier: Apache-2.0
"""tinygrad: tensors on its backend CL, compared with numpy, and the training of a small network."""
import numpy as np
from tinygrad import Context, Tensor, nn

from client import close, equal, rng, run, test, true


def floats(*words, shape):
    return rng(*words).standard_normal(shape).astype(np.float32)


def sent(x):
    return Tensor(x, device="CL")


@test
def arithmetic():
    x, y = floats("x", shape=(20, 30)), floats("y", shape=(30,))
    equal((sent(x) + sent(y)).numpy(), x + y)
    close((sent(x).exp() * sent(y).sigmoid()).numpy(), np.exp(x) / (1 + np.exp(-y)), 2e-6)
    equal((sent(x) > 0).where(sent(x), 0).numpy(), np.maximum(x, 0))
    i = rng("i").integers(-1000, 1000, 500).astype(np.int32)
    equal((sent(i) * 3 // 7).numpy(), i * 3 // 7)


@test
def reductions():
    x = floats("r", shape=(17, 200))
    close(sent(x).sum(1).numpy(), x.sum(1, dtype=np.float64), 1e-5, 1e-5)
    equal(sent(x).max(0).numpy(), x.max(0))
    equal(sent(x).argmax(1).numpy(), x.argmax(1).astype(np.int32))
    close(sent(x).softmax(1).numpy(), np.exp(x) / np.exp(x).sum(1, keepdims=True), 1e-5)


@test
def matrix_products():
    a, b = floats("a", shape=(48, 64)), floats("b", shape=(64, 40))
    close((sent(a) @ sent(b)).numpy(), a.astype(np.float64) @ b, 1e-5, 1e-5)


@test
def convolution():
    x, w = floats("cx", shape=(2, 3, 12, 12)), floats("cw", shape=(4, 3, 3, 3))
    got = sent(x).conv2d(sent(w), padding=1).numpy()
    p = np.pad(x.astype(np.float64), ((0, 0), (0, 0), (1, 1), (1, 1)))
    windows = np.lib.stride_tricks.sliding_window_view(p, (3, 3), (2, 3))
    close(got, np.einsum("nchwij,ocij->nohw", windows, w), 1e-4, 1e-4)


@test
def movement():
    x = floats("m", shape=(6, 10))
    equal(sent(x).permute(1, 0).flip(0).contiguous().numpy(), x.T[::-1])
    equal(sent(x).reshape(3, 20)[1:, ::2].contiguous().numpy(), x.reshape(3, 20)[1:, ::2])
    equal(sent(x).cat(sent(x), dim=1).numpy(), np.concatenate([x, x], 1))
    equal(sent(x).sort(1)[0].numpy(), np.sort(x, 1))


@test
def random_tensors():
    Tensor.manual_seed(3)
    x = Tensor.rand(10000, device="CL").numpy()
    true(0 <= x.min() and x.max() < 1 and abs(x.mean() - .5) < .02, f"from {x.min()} to {x.max()}, mean {x.mean()}")


@test(needs="half")
def half_precision():
    x = floats("h", shape=1000).astype(np.float16)
    equal((sent(x) * 2 + 1).numpy(), x * np.float16(2) + np.float16(1))


@test
def training():
    """The gradients are those of numpy, and a network learns to tell points in a circle from others."""
    r = rng("points")
    x = r.uniform(-1, 1, (128, 2)).astype(np.float32)
    y = ((x**2).sum(1) < .5).astype(np.float32)
    w1, w2 = (sent(floats("w", i, shape=s) * np.float32(.5)) for i, s in enumerate([(2, 16), (16, 1)]))
    b1 = sent(np.zeros(16, np.float32))
    for p in w1, w2, b1:
        p.requires_grad = True

    def loss():
        h = (sent(x) @ w1 + b1).tanh()
        return ((h @ w2).reshape(128) - sent(y)).square().mean()

    now = loss()
    now.backward()
    first = now.item()
    h = np.tanh(x.astype(np.float64) @ w1.numpy() + b1.numpy())
    error = (h @ w2.numpy())[:, 0] - y
    close(first, (error**2).mean(), 1e-5)
    close(w2.grad.numpy(), (h.T @ error[:, None]) * 2 / 128, 1e-4, 1e-6, "the gradient of w2")
    back = (error[:, None] * 2 / 128) @ w2.numpy().T * (1 - h**2)
    close(w1.grad.numpy(), x.T @ back, 1e-4, 1e-6, "the gradient of w1")
    optimizer = nn.optim.Adam([w1, w2, b1], lr=.05)
    with Context(TRAINING=1):
        for _ in range(30):
            optimizer.zero_grad()
            now = loss()
            now.backward()
            optimizer.step()
    true(now.item() < .5 * first, f"the loss went from {first} to {now.item()}")


run()
