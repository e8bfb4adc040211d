"""What the networks of `jitgraph bench --models` leave on the host under the CUDA target, and what their kernels need.

    python tests/bench/device_share.py                      # for each network: launches, host kernels, host operations
    python tests/bench/device_share.py 'resnet50-*' --compile     # also: registers, shared memory, bytes per launch and per move
    python tests/bench/device_share.py '*rnn*' --steps      # of a whole step, with the bodies of its loops and what follows them

Nothing is run: the graphs are planned, with tiny sizes unless `--full` is given, which is what times are measured with.  With
`--steps` they are run on a device whose kernels compute zeros, for what comes after a value, and how often, shows only then; those
that zeros lead astray, and with `--simulate` all, on one that computes what it should.
"""
from __future__ import annotations

import argparse
import contextlib
import fnmatch
import os
import re
from collections import Counter

import numpy as np

import jitgraph as tf
from jitgraph.bench import device, runner
from jitgraph.bench.workload import REGISTRY
from jitgraph.compiler import TARGETS, compile, sizes
from jitgraph.compiler.emit import cuda_compile
from jitgraph.compiler.kernel import CODES, WIDTH
from jitgraph.compiler.place import DeviceStep, HostStep
from jitgraph.runtime import explain
from jitgraph.runtime.cuda import machine
from jitgraph.runtime.cuda.fake import FakeDriver
from jitgraph.runtime.cuda.machine import Machine
from jitgraph.runtime.watch import watching

WARM = 5            # steps after which graphs of loops are made, too: when the same addresses have come again


class Asked(Exception):
    """A session was asked to run something, which stands in `args`: (graph, fetches, feeds)."""


class Session:
    """Stands for tf.Session: initialises nothing, and once a workload is `prepared`, tells what it is asked for instead of running
    it."""

    prepared = False

    def __init__(self):
        self.graph = tf.get_default_graph()

    def run(self, fetches, feeds=None):
        if self.prepared:
            raise Asked(self.graph, fetches, feeds or {})


def planned(name, full=False):
    """The program of a workload for CUDA: its first segment, where shapes depend on values."""
    tf.reset_default_graph()
    device.workloads(), runner.choose([], False, True)      # which load them all

    class Listening(Session):
        pass

    real, tf.Session = tf.Session, Listening
    try:
        call = REGISTRY[name].prepare("jitgraph", small=not full)
        Listening.prepared = True
        call()
    except Asked as asked:
        graph, fetches, feeds = asked.args
    finally:
        tf.Session = real
    fetches = fetches if isinstance(fetches, list) else [fetches]
    tensors = [one for one in fetches if isinstance(one, tf.Tensor)]
    operations = [one for one in fetches if isinstance(one, tf.Operation)]
    return compile(graph, tensors, operations, {fed: np.shape(value) for fed, value in feeds.items()}, target=TARGETS["cuda"])


def share(program):
    """(launches, {kernel that runs on the host: count}, {operation that does: count})."""
    steps = program.layout.steps
    kernels = Counter(step[0].name for step in steps if isinstance(step, tuple))
    operations = Counter(step.node.op.type if step.node.op is not None else step.node.attrs["call"]
                         for step in steps if isinstance(step, HostStep))
    return sum(isinstance(step, DeviceStep) for step in steps), kernels, operations


def moved(kernel):
    """Bytes of the buffers that a launch reads or writes, each counted once for either."""
    found = 0
    for param, value in zip(kernel.params, kernel.buffers):
        touched = kernel.nodes[0].kind.touched(kernel.nodes[0], param) if kernel.threads else None
        count = sizes.count(value.shape) if touched is None else sizes.hint_of(touched)
        found += count * WIDTH[param.dtype] * (2 if param.use == "inout" else 1)
    return found


def widths(ptx, verb):
    """By how many bytes the loads (or stores) of device memory move, as "4 16"; those of sizes and numbers not counted."""
    found = re.findall(rf"{verb}\.global(?:\.nc)?(?:\.v(\d))?\.[a-z](\d+)", ptx)
    each = {int(count or 1) * int(bits) // 8 for count, bits in found if verb == "st" or bits != "64" or count}
    return " ".join(map(str, sorted(each))) or "none"


def print_kernels(program):
    """A line for each distinct kernel: how often it is launched, what it moves and what its threads need."""
    launched = Counter()
    kernels, traffic = {}, Counter()
    for step in program.layout.steps:
        if isinstance(step, DeviceStep):
            source = step.kernel.source
            kernels[source] = step.kernel
            launched[source] += 1
            traffic[source] += moved(step.kernel)
    print(f"    {'kernel':44} launches  bytes/launch  registers  shared  spilled  bytes per load, store")
    for source, kernel in sorted(kernels.items(), key=lambda item: -traffic[item[0]]):
        made = cuda_compile.compile_kernel(kernel)
        print(f"    {kernel.name[:44]:44} {launched[source]:8} {traffic[source] // launched[source]:13,} {made.registers:10}"
              f" {made.shared:7} {made.spilled:8}  {widths(made.ptx, 'ld')}, {widths(made.ptx, 'st')}")


class Simulated(FakeDriver):
    """A simulated device that counts what it is asked for."""

    def __init__(self):
        super().__init__()
        self.asked = Counter()

    def synchronize(self, stream):
        self.asked["waits"] += 1
        super().synchronize(stream)

    def launch(self, *given):
        self.asked["launches"] += 1
        super().launch(*given)

    def launch_graph(self, *given):
        self.asked["graphs"] += 1
        super().launch_graph(*given)

    def on_device(self, *given):
        self.asked["copies inside"] += 1
        super().on_device(*given)

    def to_device(self, *given):
        self.asked["copies up"] += 1
        super().to_device(*given)

    def to_host(self, *given):
        self.asked["copies down"] += 1
        super().to_host(*given)


class Zeros(Simulated):
    """A device whose kernels compute nothing but zeros, and that all is true, at once."""

    def _run(self, function, loaded, given, blocks, threads):
        for (_, code, use), (pointer, nbytes) in zip(loaded["params"], given):
            if use == "out":
                self._range(function.device, pointer, nbytes, "result")[...] = int(code == CODES["bool"])


class Quick(tf.Session):
    """A session that compiles at once."""

    def __init__(self, *given, **named):
        super().__init__(*given, **{**named, "jit": "always"})


@contextlib.contextmanager
def sessions_on(driver):
    """Within it, sessions run on a simulated device, and compile at once."""
    real, tf.Session = tf.Session, Quick
    before, os.environ["JITGRAPH_TARGET"] = os.environ.get("JITGRAPH_TARGET", ""), "cuda-simulator"
    machine._MACHINES[1] = Machine(driver)
    try:
        yield
    finally:
        tf.Session, os.environ["JITGRAPH_TARGET"] = real, before
        del machine._MACHINES[1]


def stepped(name, full=False, driver=Zeros):
    """(kernels, {operation that the host does: count}, copies from and to the host, their bytes, waits for the device, what else
    the driver is asked for) of one step of a network.  The first four are of a step that is watched, whose loops go round by round.
    """
    tf.reset_default_graph()
    runner.choose([name], False, True)
    driver = driver()
    with sessions_on(driver):
        step = REGISTRY[name].prepare("jitgraph", small=not full)
        for _ in range(WARM):
            step()
        driver.asked.clear()
        step()
        asked, tally = Counter(driver.asked), explain.Tally()
        with watching(0, tally):
            step()
    lines = list(tally.lines.values())
    launches = sum(line.calls for line in lines if line.kind == "kernel" and " on GPU:" in line.name)
    host = Counter()
    for line in lines:
        if line.kind == "host" or line.kind == "kernel" and " on GPU:" not in line.name:
            host[line.name] += line.calls
    copies = [line for line in lines if line.kind == "copy" and "among" not in line.name]
    waits = asked.pop("waits", 0)
    return launches, host, sum(line.calls for line in copies), sum(line.bytes for line in copies), waits, asked


def stepped_or_simulated(name, full=False):
    """`stepped` on a device that computes zeros; where a step fails with these, as one that finds that all its sequences are empty,
    on one that computes what it should."""
    try:
        return stepped(name, full)
    except tf.errors.OpError:
        return stepped(name, full, Simulated)


def print_steps(names, full, simulate):
    """A line for a step of each network."""
    for name in names:
        found = stepped(name, full, Simulated) if simulate else stepped_or_simulated(name, full)
        launches, host, copies, nbytes, waits, asked = found
        left = ", ".join(f"{count} {what}" for what, count in host.most_common())
        calls = ", ".join(f"{count} {what}" for what, count in sorted(asked.items()))
        print(f"{name:32} {launches:5} kernels, asked for by {calls}, {waits} waits; over the host {copies} copies of {nbytes:,} "
              f"bytes; on the host: {left or 'nothing'}", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("pattern", nargs="?", default="*")
    parser.add_argument("--full", action="store_true")
    parser.add_argument("--compile", action="store_true")
    parser.add_argument("--steps", action="store_true")
    parser.add_argument("--simulate", action="store_true")
    arguments = parser.parse_args()
    kernels, operations = Counter(), Counter()
    names = fnmatch.filter(runner.choose([], False, True), arguments.pattern)
    if arguments.steps or arguments.simulate:
        return print_steps(names, arguments.full, arguments.simulate)
    for name in names:
        program = planned(name, arguments.full)
        launches, mine, ops = share(program)
        left = ", ".join(f"{count} {what}" for what, count in (mine + ops).most_common())
        later = f"; {len(program.rest)} operations in later segments" if program.rest else ""
        print(f"{name:32} {launches:5} launches; on the host: {left or 'nothing'}{later}", flush=True)
        kernels, operations = kernels + mine, operations + ops
        if arguments.compile:
            print_kernels(program)
    print(f"all: kernels on the host {dict(kernels.most_common())}, operations {dict(operations.most_common())}")


if __name__ == "__main__":
    main()
