"""What can be said without a GPU of the kernels that `jitgraph bench --device gpu` times by the bandwidth of memory, as a table.

    python -m tests.bench.device_figures              # for sm_90
    python -m tests.bench.device_figures --capability 8.0
    python -m tests.bench.device_figures --host       # what a Session.run takes of the host, but for the driver

For each workload, in its full size: how many kernels a call launches, and the bytes that their buffers hold, each counted once
for a read and once for a write, beside the least that a call must move.  Of a part of that, run on the simulated grid: the sectors
of 32 bytes that the threads' instructions ask for, beside the least; those asked for again come from caches.  And of each kernel
that moves more than a thousandth: registers, bytes spilled, threads that a multiprocessor holds at once (of 2048), shared memory,
and by how many bytes a thread loads and stores.
"""
from __future__ import annotations

import argparse
import time
import timeit

import numpy as np

import jitgraph as tf
from jitgraph.bench import device
from jitgraph.bench.workload import REGISTRY
from jitgraph.compiler import targets
from jitgraph.compiler.emit import cuda_compile, simt
from jitgraph.compiler.place import DeviceStep
from jitgraph.runtime.cuda.fake import FakeDriver
from jitgraph.runtime.cuda.machine import machine_of

from . import device_share

REGISTERS, THREADS, BLOCKS, SHARED = 1 << 16, 2048, 32, 164 << 10      # of a multiprocessor of capability 8.0; 9.0 shares 228 KB
SECTOR = 32
SMALL = 1000            # a kernel that moves less than this part of what is least is only counted
PARTS = {"rows": 512, "columns": 64, "n": 1 << 14}      # that are simulated


def names():
    """The workloads that say how many bytes a call moves."""
    return [name for name, workload in device.workloads().items() if workload.moves and workload.moves(**workload.full)]


def resident(made, width):
    """How many threads a multiprocessor holds at once of a kernel in blocks of `width`: what registers and shared memory allow."""
    warps = -(-width // 32)
    of_registers = REGISTERS // (-(-made.registers // 8) * 8 * 32) // warps
    of_memory = SHARED // (made.shared + 1024)
    return min(of_registers, of_memory, BLOCKS, THREADS // (32 * warps)) * 32 * warps


class Metered(FakeDriver):
    """A simulated device that counts the bytes of the sectors that the instructions of its threads ask for."""

    asked = 0

    def _simulate(self, source, name, arrays, words, blocks, threads, reached):
        traffic = simt.Traffic()
        bits = simt.simulate(source, name, arrays, words, blocks, threads, traffic=traffic, reached=reached)
        self.asked += SECTOR * sum(traffic.sectors(*buffer) for buffer in traffic.notes)
        return bits


def part(name, size):
    """A size of which so little is left that it can be simulated: two whole rows where a kernel goes along them."""
    if "softmax" in name or "layernorm" in name:
        return {**size, "rows": 2}
    return {key: min(PARTS[key], value) for key, value in size.items()} if name != "device-transpose" else {"rows": 96}


def simulated(name):
    """(bytes that the threads of one call ask for in sectors, the least) of a part of a workload."""
    tf.reset_default_graph()
    workload, driver = REGISTRY[name], Metered()
    size = part(name, workload.full)
    with device_share.sessions_on(driver):
        call = workload.functions["jitgraph"](**size)
        call()
        wait = machine_of(targets.present()).devices[0].synchronize
        wait()
        driver.asked = 0
        call()
        wait()
    return driver.asked, workload.moves(**size)


def figures(name, full=True, capability=cuda_compile.HOPPER):
    """{"title", "least", "moved", "launches", "asked": of the least, "kernels": [(name, CompiledKernel, resident threads, widths of
    loads, of stores)]}."""
    workload = REGISTRY[name]
    least = workload.moves(**(workload.full if full else workload.small))
    steps = [step for step in device_share.planned(name, full).layout.steps if isinstance(step, DeviceStep)]
    traffic = [device_share.moved(step.kernel) for step in steps]
    kernels = {}
    for step, nbytes in zip(steps, traffic):
        if nbytes * SMALL > least and step.kernel.source not in kernels:
            made = cuda_compile.compile_kernel(step.kernel, capability)
            kernels[step.kernel.source] = (step.kernel.name, made, resident(made, made.threads),
                                           *(device_share.widths(made.ptx, verb) for verb in ("ld", "st")))
    return {"title": workload.title, "least": least, "moved": sum(traffic), "launches": len(steps),
            "asked": np.divide(*simulated(name)), "kernels": [*kernels.values()]}


def table(rows):
    """The figures as Markdown."""
    lines = ["| workload | launches | bytes in buffers | of the least | sectors, of the least | kernel | registers | spilled | "
             "threads of 2048 | shared | bytes per load | per store |", "|---|" + "---:|" * 4 + "---|" + "---:|" * 6]
    for row in rows:
        first = (f"| {row['title']} | {row['launches']} | {row['moved']:,} | {row['moved'] / row['least']:.3f} | "
                 f"{row['asked']:.3f} |")
        for name, made, threads, loads, stores in row["kernels"]:
            lines.append(f"{first} {name} | {made.registers} | {made.spilled} | {threads} | {made.shared} | {loads} | {stores} |")
            first = "| | | | | |"
    return "\n".join(lines)


class Silent(device_share.Zeros):
    """A device that, once it is `silent`, is asked for what was captured and does nothing."""

    silent = False

    def launch_graph(self, graph, stream):
        if not self.silent:
            super().launch_graph(graph, stream)

    def synchronize(self, stream):
        if not self.silent:
            super().synchronize(stream)


RECURRENT = "ptb-dynamic-training-20"


def host_times(calls=2000, repeats=7):
    """{what is run: seconds of the processor for one Session.run}, the least of some rounds, the driver's own left out."""
    found, driver = {}, Silent()
    tf.reset_default_graph()            # of whose variables all are initialised
    with device_share.sessions_on(driver):
        for what, prepare in (("a counter, nothing fed or fetched", lambda: REGISTRY["device-run"].prepare("jitgraph")),
                              ("a step of training, 1 KB fed and the loss fetched", _training_step),
                              ("a step of a dynamic LSTM of two layers",
                               lambda: REGISTRY[RECURRENT].prepare("jitgraph", small=True))):
            driver.silent = False
            call = prepare()
            for _ in range(8):
                call()
            driver.silent = True
            found[what] = min(timeit.repeat(call, time.thread_time, repeat=repeats, number=calls)) / calls
    return found


def _training_step():
    tf.reset_default_graph()
    x, w = tf.placeholder(tf.float32, [8, 32]), tf.Variable(tf.ones([32, 16]))
    loss = tf.reduce_mean(tf.nn.relu(tf.matmul(x, w)))
    step = tf.train.GradientDescentOptimizer(0.1).minimize(loss)
    session, value = tf.Session(), np.ones([8, 32], np.float32)
    session.run(tf.global_variables_initializer())
    return lambda: session.run([step, loss], {x: value})


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--capability", default="9.0", help="compute capability that is compiled for")
    parser.add_argument("--host", action="store_true")
    arguments = parser.parse_args()
    if arguments.host:
        device.workloads()
        return print("\n".join(f"{what}: {seconds * 1e6:.1f} us" for what, seconds in host_times().items()))
    capability = tuple(map(int, arguments.capability.split(".")))
    print(table([figures(name, capability=capability) for name in names()]))


if __name__ == "__main__":
    main()
