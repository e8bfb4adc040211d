"""The examples run as a person runs them, reach what they promise, and start faster the second time."""

import os
import re
import subprocess
import sys
from pathlib import Path

EXAMPLES = Path(__file__).parent.parent / "examples"


def run(name, *arguments, **environment):
    command = [sys.executable, "-m", "jitgraph", "run", str(EXAMPLES / name), *arguments]
    environment = {**os.environ, "JITGRAPH_JIT": "auto", **environment}
    done = subprocess.run(command, capture_output=True, text=True, env=environment, timeout=150)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def last_table(text):
    """{name: value} of the table that an example ends with."""
    rows = text[text.rindex("\n\n") :].strip().splitlines()
    return dict(re.split(r"\s{3,}", row.strip(), maxsplit=1) for row in rows)


def test_digits_are_read_and_the_store_is_used(tmp_path):
    cold = run("digits_mlp.py", JITGRAPH_CACHE=str(tmp_path))
    warm = run("digits_mlp.py", JITGRAPH_CACHE=str(tmp_path))
    epochs = lambda text: [line for line in text.splitlines() if line.startswith("  epoch")]
    assert epochs(cold) == epochs(warm), "the same program with the same seeds gives the same numbers, cold or warm"
    first, second = last_table(cold), last_table(warm)
    assert float(first["test accuracy"]) >= 0.96
    assert not first["kernels compiled"].startswith("0 ")
    assert second["kernels compiled"].startswith("0 ")
    stored, asked = re.findall(r"\d+", second["kernels from the store"])
    assert stored == asked != "0"


def test_the_data_says_where_it_is_from():
    text = (EXAMPLES / "data" / "README.md").read_text()
    for file in (EXAMPLES / "data").glob("*.npz"):
        assert file.name in text
    assert "CC BY 4.0" in text and "UCI" in text
