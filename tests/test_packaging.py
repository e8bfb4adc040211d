"""The wheel, installed where nothing of the checkout is in reach: it imports by one name and trains."""

import os
import shutil
import subprocess
import sys
import sysconfig
import venv
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
SOURCES = ["pyproject.toml", "setup.py", "README.md", "LICENSE", "jitgraph", "compiler", "runtime"]

TRAIN_ONE_STEP = """
import jitgraph as tf
import jitgraph.compiler, jitgraph.runtime
import numpy as np

x = tf.placeholder(tf.float32, [None, 3])
w = tf.Variable(tf.zeros([3, 1]))
loss = tf.reduce_mean(tf.square(tf.matmul(x, w) - 1.0))
step = tf.train.GradientDescentOptimizer(0.1).minimize(loss)
with tf.Session() as session:
    session.run(tf.global_variables_initializer())
    before = session.run(loss, {x: np.ones([4, 3])})
    session.run(step, {x: np.ones([4, 3])})
    after = session.run(loss, {x: np.ones([4, 3])})
assert after < before, (before, after)
print(tf.__file__)
"""


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    """The wheel, built from a copy: a build inside the checkout would leave, and pick up, a build/ folder."""
    source = tmp_path_factory.mktemp("source")
    for name in SOURCES:
        path = ROOT / name
        if path.is_dir():
            shutil.copytree(path, source / name, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy(path, source / name)
    command = [
        sys.executable,
        "-m",
        "build",
        "--wheel",
        "--no-isolation",
        "--outdir",
        str(source / "dist"),
        str(source),
    ]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return next((source / "dist").glob("*.whl"))


@pytest.fixture(scope="module")
def installed(wheel, tmp_path_factory):
    """The folder of an environment that holds the wheel, and sees its dependencies through a .pth file.

    A path named in a .pth file is searched, but its own .pth files are not read, so the editable install of the
    checkout stays out of sight.
    """
    home = tmp_path_factory.mktemp("environment")
    venv.create(home, with_pip=False, symlinks=True)
    python = str(home / "bin" / "python")
    command = [
        sys.executable,
        "-m",
        "pip",
        "--python",
        python,
        "install",
        "--quiet",
        "--no-deps",
        "--no-index",
        str(wheel),
    ]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    site = next(home.glob("lib/python*/site-packages"))
    (site / "dependencies.pth").write_text(sysconfig.get_path("purelib") + "\n" + sysconfig.get_path("platlib") + "\n")
    return home


def run(home, *arguments):
    environment = {key: value for key, value in os.environ.items() if not key.startswith(("PYTHON", "VIRTUAL_ENV"))}
    return subprocess.run(
        [str(home / "bin" / "python"), *arguments], cwd=home, env=environment, capture_output=True, text=True
    )


def test_wheel_holds_one_import_name(wheel):
    names = zipfile.ZipFile(wheel).namelist()
    tops = {name.split("/")[0] for name in names if ".dist-info/" not in name}
    assert tops == {"jitgraph"}
    for package in ("jitgraph", "jitgraph/compiler", "jitgraph/runtime"):
        assert f"{package}/__init__.py" in names
        assert f"{package}/py.typed" in names


def test_wheel_holds_every_source_file(wheel):
    names = set(zipfile.ZipFile(wheel).namelist())
    folders = {"jitgraph": "jitgraph", "compiler": "jitgraph/compiler", "runtime": "jitgraph/runtime"}
    for folder, package in folders.items():
        for path in (ROOT / folder).rglob("*"):
            inside = path.relative_to(ROOT / folder)
            if path.is_file() and not any(part.startswith((".", "__pycache__")) for part in inside.parts):
                assert f"{package}/{inside.as_posix()}" in names, f"{path} is not in the wheel"


def test_installed_packages_are_found_only_under_jitgraph(installed):
    code = """
import importlib.util, jitgraph.compiler, jitgraph.runtime
print(importlib.util.find_spec("compiler"), importlib.util.find_spec("runtime"))
"""
    done = run(installed, "-c", code)
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == ["None", "None"]


def test_installed_wheel_trains_a_step(installed):
    done = run(installed, "-c", TRAIN_ONE_STEP)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith(str(installed)), f"imported {done.stdout} rather than the installed wheel"


def test_installed_command_answers(installed):
    done = subprocess.run(
        [str(installed / "bin" / "jitgraph"), "--help"], cwd=installed, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    assert "run" in done.stdout and "doctor" in done.stdout
