"""Profiles as pprof reads them: the operations of ``cmd="code"``, each with the lines of the program that made it."""
from __future__ import annotations

import gzip
import os
import sys
from typing import Any

from jitgraph.formats.files import replacing
from jitgraph.profiler.report import LEAST, SELECTED
from jitgraph.protobuf import messages

_COMMENTS = {"micros": "Sum of accelerator execution time and cpu execution time.",
             "accelerator_micros": "Accelerator execution time.", "cpu_micros": "CPU execution time.",
             "params": "Model parameters.", "float_ops": "Model float operations (Only available if defined)."}


class _Profile:
    """The message while it is made: strings, functions and lines stand in it once."""

    def __init__(self, kind: str):
        self.message: Any = messages.Profile(string_table=[""])
        self._places: dict[Any, int] = {"": 0}
        self._kind = kind
        self.message.sample_type.add(type=self.text("count"), unit=self.text("count"))
        if kind in _COMMENTS:
            unit = "microseconds" if kind.endswith("micros") else "count"
            self.message.sample_type.add(type=self.text(kind), unit=self.text(unit))
            self.message.comment.append(self.text(_COMMENTS[kind]))
        else:
            sys.stderr.write(f"pprof doesn't support selecting: {kind}\n")

    def text(self, value: str) -> int:
        """The number of a string."""
        if value not in self._places:
            self._places[value] = len(self.message.string_table)
            self.message.string_table.append(value)
        return self._places[value]

    def line(self, file: str, number: int, function: str) -> int:
        """The number of a line of the program."""
        if (file, function) not in self._places:
            self._places[file, function] = len(self.message.function) + 1
            stem = os.path.basename(file).rpartition(".")[0]
            self.message.function.add(id=self._places[file, function], name=self.text(f"{stem}:{function}"),
                                      filename=self.text(file))
        if (file, number, function) not in self._places:
            self._places[file, number, function] = len(self.message.location) + 1
            place = self.message.location.add(id=self._places[file, number, function])
            place.line.add(function_id=self._places[file, function], line=number)
        return self._places[file, number, function]

    def add(self, operation: Any, way: list[int]) -> None:
        """An operation that the last of the lines `way` made."""
        sample = self.message.sample.add(location_id=way[::-1], value=[1])
        if self._kind in _COMMENTS:
            sample.value.append(operation.own[SELECTED[self._kind]])
        sample.label.add(key=self.text("graph node:"), str=self.text(operation.name))


def write_pprof(top: Any, options: dict, path: str) -> None:
    """Writes the lines that are shown below `top`, packed by gzip, to the file `path`; its second value is that of `select`."""
    made = _Profile(min(options.get("select") or ["micros"]))

    def walk(line: Any, way: list[int]) -> None:
        way = [*way, made.line(*line.frame)] if line.frame else way
        for operation in line.operations:
            if all(operation.own[key] >= options.get(name, 0) for key, name in LEAST.items()):
                made.add(operation, way)
        for below in line.kept:
            walk(below, way)

    walk(top, [])
    with replacing(path) as file:
        file.write(gzip.compress(made.message.SerializeToString(deterministic=True)))
    sys.stdout.write(f"\nRun pprof -png --nodecount=100 --sample_index=1 <{path}>\n")
