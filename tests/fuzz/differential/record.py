"""Records what TensorFlow answers to some thousand programs, for those who have no TensorFlow:

    python -m differential.record --tensorflow /path/to/python [--count 200] [--kinds a,b]

in tests/fuzz writes recorded/KIND.npz: "programs", all programs and answers as JSON, in which an array is its place in
"values_DTYPE", all values of that dtype one after the other.  Of large tensors some elements stand for all.
"""

import argparse
import json
import random
from pathlib import Path

import numpy as np

from .answers import array_of
from .compare import SAMPLE, sampled
from .faults import answered
from .generate import KINDS, program
from .pipe import Pipe
from .shrink import needed

FOLDER = Path(__file__).parent.parent / "recorded"
FETCHES = 3  # at most so many tensors of a program are recorded


class Values:
    """All values of a file, by dtype."""

    def __init__(self):
        self.parts, self.sizes = {}, {}

    def put(self, value):
        """What stands in the JSON for a plain array."""
        place = {"dtype": value["dtype"], "shape": list(value["shape"])}
        if "list" in value:
            return dict(place, list=[item.decode("latin1") for item in value["list"]])
        array = array_of(value)
        if array.size > SAMPLE:
            place["sampled"] = True
        kept = sampled(array)
        name = kept.dtype.name
        place["from"] = self.sizes.get(name, 0)
        self.sizes[name] = place["from"] + kept.size
        self.parts.setdefault(name, []).append(kept)
        return place

    def arrays(self):
        return {f"values_{name}": np.concatenate(parts) for name, parts in self.parts.items()}


def taken(place, values):
    """The plain array that `put` said."""
    if "list" in place:
        return dict(place, list=[item.encode("latin1") for item in place["list"]])
    count = min(int(np.prod(place["shape"])), SAMPLE)
    name = "float32" if place["dtype"] == "bfloat16" else place["dtype"]
    array = values[f"values_{name}"][place["from"] : place["from"] + count]
    return dict(place, array=array if place.get("sampled") else array.reshape(place["shape"]))


def load(kind):
    """[(program, answer)] of a recorded file."""
    with np.load(FOLDER / f"{kind}.npz") as file:
        values = {name: file[name] for name in file.files}
    pairs = json.loads(bytes(values["programs"]))
    for _, answer in pairs:
        for run in answer["runs"]:
            run["values"] = {name: taken(place, values) for name, place in run.get("values", {}).items()}
    return pairs


def fewer(asked, seed):
    """The program with a few fetches and what they need."""
    names = sorted({name for run in asked["runs"] for name in run["fetch"]})
    if asked["kind"] not in ("state", "training"):
        names = random.Random(seed).sample(names, min(len(names), FETCHES))
    for run in asked["runs"]:
        run["fetch"] = [name for name in run["fetch"] if name in names]
    return needed(asked)


def recorded(pipe, kind, seed, values):
    """(program, answer) as data; None where TensorFlow cannot say."""
    found = answered(pipe, fewer(program(seed, kind), seed))
    if found is None:
        return None
    asked, answer = found
    runs = [
        {"error": run["error"]} if "error" in run else {"values": {n: values.put(v) for n, v in run["values"].items()}}
        for run in answer["runs"]
    ]
    return dict(asked, number=seed), dict(answer, runs=runs)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tensorflow", required=True, help="a Python that has TensorFlow 1.15")
    parser.add_argument("--count", type=int, default=200, help="programs of each kind")
    parser.add_argument("--kinds", default=",".join(KINDS))
    given = parser.parse_args()
    pipe = Pipe(given.tensorflow, "tensorflow")
    FOLDER.mkdir(exist_ok=True)
    for kind in given.kinds.split(","):
        values = Values()
        pairs = [pair for seed in range(given.count) if (pair := recorded(pipe, kind, seed, values))]
        text = np.frombuffer(json.dumps(pairs, separators=(",", ":")).encode(), np.uint8)
        np.savez_compressed(FOLDER / f"{kind}.npz", programs=text, **values.arrays())
        print(f"{kind}: {len(pairs)} programs, {(FOLDER / f'{kind}.npz').stat().st_size // 1024} KB", flush=True)
    pipe.close()


if __name__ == "__main__":
    main()
