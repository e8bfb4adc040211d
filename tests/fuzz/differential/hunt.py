"""Asks TensorFlow and jitgraph the same programs and says where they differ:

    python -m differential.hunt --tensorflow /path/to/python [--kinds a,b] [--first 0] [--count 1000] [--modes off,always,auto]

in tests/fuzz.  Each difference is shrunk and printed, and written into the folder --found.
"""

import argparse
import collections
import copy
import json
import sys
import time
from pathlib import Path

from .compare import differences, second_look
from .faults import answered
from .generate import KINDS, program
from .pipe import Pipe
from .shrink import shrink
from .source import source


class Hunt:
    def __init__(self, tensorflow, modes):
        self.modes = modes
        self.theirs, self.ours = Pipe(tensorflow, "tensorflow"), Pipe(sys.executable, "jitgraph")

    def compare(self, asked, modes=None):
        """{mode: differences} of one program; None where TensorFlow cannot say."""
        found = answered(self.theirs, asked)
        if found is None:
            return None
        (asked, wanted), result = found, {}
        for mode in modes or self.modes:
            answer = self.ours.ask(asked, mode)
            if differences(wanted, answer) and (
                found := second_look(
                    wanted, answer, lambda seed: self.ours.ask(asked, "off", seed), self.theirs.ask(asked, wide=True)
                )
            ):
                result[mode] = found
        return result

    def shrunk(self, asked, mode, found):
        """The smallest program found that differs in this mode in the same way."""
        kind = sort_of(found[0])
        if kind[0] == "static":
            for run in (asked := copy.deepcopy(asked))["runs"]:
                run["fetch"] = [found[0][0].split()[1]]

        def differs(smaller):
            other = self.compare(smaller, [mode])
            return bool(other) and any(sort_of(one) == kind for one in other[mode])

        return shrink(asked, differs)


def sort_of(difference):
    """What a difference has in common with others of its cause: where, without numbers, and the first words."""
    where, what = difference
    return where.split()[0].rstrip("0123456789"), "".join(c for c in what if not c.isdigit())[:9]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tensorflow", required=True, help="a Python that has TensorFlow 1.15")
    parser.add_argument("--kinds", default=",".join(KINDS))
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--count", type=int, default=1000, help="seeds of each kind")
    parser.add_argument("--seconds", type=float, default=float("inf"))
    parser.add_argument("--modes", default="off,always,auto")
    parser.add_argument("--found", type=Path, help="a folder for programs that differ")
    parser.add_argument("--no-shrink", action="store_true")
    given = parser.parse_args()
    hunt, start, seen = Hunt(given.tensorflow, given.modes.split(",")), time.time(), collections.Counter()
    for seed in range(given.first, given.first + given.count):
        for kind in given.kinds.split(","):
            if time.time() - start > given.seconds:
                break
            one(hunt, kind, seed, seen, given)
    print(f"{dict(seen)} in {time.time() - start:.0f} s")
    hunt.theirs.close()
    hunt.ours.close()
    return 1 if seen["different"] else 0


def one(hunt, kind, seed, seen, given):
    asked = program(seed, kind)
    seen["programs"] += 1
    found = hunt.compare(asked)
    if found is None:
        seen["without an answer"] += 1
    if not found:
        return
    seen["different"] += 1
    mode = next(iter(found))
    if not given.no_shrink:
        asked = hunt.shrunk(asked, mode, found[mode])
        found = hunt.compare(asked) or found
    text = "\n".join(f"{m}: {where}: {what}" for m in found for where, what in found[m][:3])
    print(f"---- {kind} {seed}\n{text}\n{source(asked)}\n", flush=True)
    if given.found:
        given.found.mkdir(parents=True, exist_ok=True)
        (given.found / f"{kind}_{seed}.json").write_text(json.dumps(asked))


if __name__ == "__main__":
    sys.exit(main())
