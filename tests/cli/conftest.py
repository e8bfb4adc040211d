"""Commands in a process of their own, as a person starts them, and stand-ins for what the runtime answers."""

import os
import subprocess
import sys

import pytest


@pytest.fixture
def jitgraph(tmp_path):
    """jitgraph("run", "x.py"): run the command in an empty folder; gives returncode, stdout, stderr."""

    def _jitgraph(*arguments, input=None, **environment):
        return subprocess.run(
            [sys.executable, "-m", "jitgraph", *map(str, arguments)],
            cwd=tmp_path,
            env={**os.environ, "COLUMNS": "140", **environment},
            capture_output=True,
            text=True,
            timeout=120,
            **({"stdin": subprocess.DEVNULL} if input is None else {"input": input}),
        )

    return _jitgraph


@pytest.fixture
def script(tmp_path):
    """script(text, name="program.py"): write a program into the folder and return its path."""

    def _script(text, name="program.py"):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        return path

    return _script


@pytest.fixture
def signature():
    """A small run signature, as the compiler describes it."""
    nodes = [
        ("x", "Placeholder", [], "[?, 4]"),
        ("scope/w/read", "Identity", ["scope/w"], "[4, 2]"),
        ("scope/w", "VariableV2", [], "[4, 2]"),
        ("scope/MatMul", "MatMul", ["x", "scope/w/read"], "[?, 2]"),
        ("scope/Relu", "Relu", ["scope/MatMul", "^init<&>"], "[?, 2]"),
        ("init<&>", "NoOp", [], ""),
    ]
    return {
        "title": "run scope/Relu with x",
        "compiler": "direct",
        "feeds": ["x:0"],
        "fetches": ["scope/Relu:0"],
        "nodes": [
            {"name": name, "type": kind, "inputs": inputs, "shape": shape, "dtype": "float32", "site": "model.py:3"}
            for name, kind, inputs, shape in nodes
        ],
        "kernels": [
            {
                "name": "matmul_relu",
                "lines": [
                    ("def matmul_relu(a, out, begin, end):", ""),
                    ("    for i in range(begin, end):", ""),
                    ("        out[i] = max(a[i] < 2, 0)", "Relu  model.py:4"),
                ],
                "reads": ["x", "scope/w"],
                "writes": ["scope/Relu"],
                "bytes": 4096,
                "ops": [
                    {"name": "scope/MatMul", "type": "MatMul", "site": "model.py:3"},
                    {"name": "scope/Relu", "type": "Relu", "site": "model.py:4"},
                ],
                "grain": 16384,
                "parallel": True,
                "compile_ms": 12.5,
                "origin": "compiled",
            }
        ],
        "plan": [
            {"step": 0, "kind": "kernel", "name": "matmul_relu", "bytes": 4096, "because": ""},
            {"step": 1, "kind": "return", "name": "", "bytes": None, "because": ""},
        ],
        "peak_bytes": 123456,
        "total_bytes": 4096,
        "share": "",
    }
