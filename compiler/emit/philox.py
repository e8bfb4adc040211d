"""Random bits in kernels: Philox-4x32-10 (Salmon et al., 2011) by counter, so that any item can begin anywhere.

The numbers are those of `jitgraph.ops.philox`, bit for bit.
"""
from __future__ import annotations

from .. import sizes
from ..ir import Node
from ..kernel import CODES, Kernel, Param
from ..views import resolve

BLOCKS = 256            # blocks of four 32-bit words that an item makes
ROUNDS = 10


def emit_uniform(node: Node) -> Kernel:
    """Numbers in [0, 1); the input is (seed, second seed, first block) as int64."""
    code = CODES[node.out.dtype.name]
    count, per_block = sizes.product(node.out.shape), 4 if code == "f32" else 2
    name = f"uniform_{code}"
    kernel = Kernel("random", [], nodes=[node], name=name)
    kernel.params = [Param("x0", "i64", "in"), Param("y0", code, "out")]
    kernel.buffers = [resolve(node.inputs[0])[0], node.out]
    kernel.sizes = [count]
    kernel.items = (count + BLOCKS * per_block - 1) // (BLOCKS * per_block)
    kernel.cost = (1.0, BLOCKS * 4)
    keys = "\n".join(f"    a{r} = (u64(x0[0]) + u64({r * 0x9E3779B9 & 0xFFFFFFFF})) & low\n"
                     f"    b{r} = ((u64(x0[0]) >> half) + u64({r * 0xBB67AE85 & 0xFFFFFFFF})) & low" for r in range(ROUNDS))
    rounds = "\n".join(f"""            p0 = c0 * m0
            p1 = c2 * m1
            c0 = (p1 >> half) ^ c1 ^ a{r}
            c1 = p1 & low
            c2 = (p0 >> half) ^ c3 ^ b{r}
            c3 = p0 & low""" for r in range(ROUNDS))
    if code == "f32":
        stores = "\n".join(f"            made[b * 4 + {k}] = f32(i64(c{k} & u64(0x7FFFFF))) * f32({2.0 ** -23!r})" for k in range(4))
    else:
        stores = "\n".join(f"            made[b * 2 + {k}] = f64(i64(((c{2 * k} & u64(0xFFFFF)) << half) | c{2 * k + 1})) "
                           f"* f64({2.0 ** -52!r})" for k in range(2))
    kernel.source = f"""def {name}(x0, y0, sizes, begin, end):
    count = sizes[0]
    half, low, m0, m1 = u64(32), u64(0xFFFFFFFF), u64(0xD2511F53), u64(0xCD9E8D57)
    start = u64(x0[2])
    s0, s1 = u64(x0[1]) & low, u64(x0[1]) >> half
{keys}
    made = block_{code}()
    for q in range(begin, end):
        first = q * {BLOCKS}
        for b in range({BLOCKS}):
            counter = start + u64(first + b)
            c0, c1, c2, c3 = counter & low, counter >> half, s0, s1
{rounds}
{stores}
        base = first * {per_block}
        for k in range(smaller({BLOCKS * per_block}, count - base)):
            y0[base + k] = made[k]
    return 0
"""
    return kernel
