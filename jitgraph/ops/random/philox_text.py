"""Philox-4x32-10 as `jitgraph.ops.random.philox` has it, in the part of Python that is compiled: for kernels, and for loops of the
host."""
from __future__ import annotations

ROUNDS = 10

START = """    half, low, m0, m1 = u64(32), u64(0xFFFFFFFF), u64(0xD2511F53), u64(0xCD9E8D57)
    start = u64(x0[2])
    s0, s1 = u64(x0[1]) & low, u64(x0[1]) >> half
""" + "\n".join(f"    a{r} = (u64(x0[0]) + u64({r * 0x9E3779B9 & 0xFFFFFFFF})) & low\n"
                f"    b{r} = ((u64(x0[0]) >> half) + u64({r * 0xBB67AE85 & 0xFFFFFFFF})) & low" for r in range(ROUNDS))
"""What a function begins with: seeds and first block are x0[0 to 2]; the keys of all rounds."""

BLOCK = """            c0, c1, c2, c3 = counter & low, counter >> half, s0, s1
""" + "\n".join(f"""            p0 = c0 * m0
            p1 = c2 * m1
            c0 = (p1 >> half) ^ c1 ^ a{r}
            c1 = p1 & low
            c2 = (p0 >> half) ^ c3 ^ b{r}
            c3 = p0 & low""" for r in range(ROUNDS))
"""A block of the sequence, the words c0 to c3 from `counter`, for a loop in a loop."""
