"""`jitgraph run`: the program's world is as under Python, its errors are its own, exit codes say what happened."""

import re
import signal
import subprocess
import sys

import pytest


def test_import_tensorflow_means_jitgraph(jitgraph, script):
    path = script("import tensorflow as tf, jitgraph\nassert tf is jitgraph\nprint('same')\n")
    done = jitgraph("run", path)
    assert (done.returncode, done.stdout, done.stderr) == (0, "same\n", "")


def test_the_program_sees_what_python_would_show_it(jitgraph, script):
    script("helper = 5\n", "folder/beside.py")
    path = script(
        "import sys, beside\n"
        "print(sys.argv, sys.path[0], __name__, __file__, beside.helper)\n"
        "import __main__; print(__main__.__file__)\n",
        "folder/program.py",
    )
    done = jitgraph("run", path, "--epochs", "3", "--help", "-x", "--", "y")
    assert done.returncode == 0, done.stderr
    arguments = [str(path), "--epochs", "3", "--help", "-x", "--", "y"]
    assert done.stdout == f"{arguments} {path.parent} __main__ {path} 5\n{path}\n"


def test_modules_run_by_name(jitgraph, script):
    script("", "package/__init__.py")
    script("import sys; print(__name__, sys.argv[1:])\n", "package/train.py")
    done = jitgraph("run", "-m", "package.train", "--epochs", "3")
    assert (done.returncode, done.stdout) == (0, "__main__ ['--epochs', '3']\n"), done.stderr


@pytest.mark.parametrize(
    "arguments, message",
    [
        (["absent.py"], "no such script: absent.py"),
        (["."], "is a folder without a __main__.py"),
        (["-m", "absent_module"], "no module named 'absent_module'"),
        ([], "missing argument 'SCRIPT'"),
        (["--jit", "maybe", "x.py"], "--jit is auto, always or off"),
    ],
)
def test_nothing_to_run_is_exit_code_2_in_two_lines_at_most(jitgraph, arguments, message):
    done = jitgraph("run", *arguments)
    assert done.returncode == 2
    assert message in done.stderr
    assert done.stderr.count("\n") <= 2
    assert "Traceback" not in done.stderr


def test_what_the_program_raises_is_shown_with_its_own_frames(jitgraph, script):
    path = script("def inner():\n    raise ValueError('mine')\n\n\ndef outer():\n    inner()\n\n\nouter()\n")
    done = jitgraph("run", path)
    assert done.returncode == 1
    assert done.stderr.startswith("Traceback (most recent call last):")
    assert done.stderr.rstrip().endswith("ValueError: mine")
    files = [line for line in done.stderr.splitlines() if line.startswith("  File")]
    assert len(files) == 3 and all(str(path) in line for line in files)


def test_frames_inside_jitgraph_are_left_out(jitgraph, script):
    path = script("import jitgraph.compat\njitgraph.compat.as_bytes(3)\n")
    done = jitgraph("run", path)
    files = [line for line in done.stderr.splitlines() if line.startswith("  File")]
    assert len(files) == 1 and f'"{path}", line 2' in files[0]
    whole = jitgraph("run", "--traceback", path)
    assert whole.returncode == 1 and "compat.py" in whole.stderr


def test_causes_are_shown_and_trimmed_too(jitgraph, script):
    path = script(
        "import jitgraph.compat\n"
        "try:\n    jitgraph.compat.as_bytes(3)\n"
        "except TypeError as error:\n    raise RuntimeError('outer') from error\n"
    )
    done = jitgraph("run", path)
    assert "direct cause" in done.stderr and "RuntimeError: outer" in done.stderr
    assert "compat.py" not in done.stderr


@pytest.mark.parametrize("options", [[], ["--times"]])
def test_what_stands_in_the_place_of_the_output_need_not_flush(jitgraph, script, options):
    """Programs log by objects with a `write` alone: their own errors are said all the same."""
    path = script("import sys\nclass Log:\n    write = sys.stdout.write\nsys.stdout = Log()\nprint('one')\n1 / 0\n")
    done = jitgraph("run", *options, path)
    assert done.returncode in (1, 120) and done.stdout.startswith("one")      # 120: Python could not flush it either
    assert "ZeroDivisionError" in done.stderr and "bug of jitgraph" not in done.stderr


def test_syntax_errors_show_the_line(jitgraph, script):
    path = script("x = = 3\n")
    done = jitgraph("run", path)
    assert done.returncode == 1
    assert f'File "{path}", line 1' in done.stderr and "SyntaxError" in done.stderr and "runpy" not in done.stderr


@pytest.mark.parametrize(
    "statement, code, message",
    [
        ("sys.exit()", 0, ""),
        ("sys.exit(7)", 7, ""),
        ("sys.exit('gone wrong')", 1, "gone wrong\n"),
        ("sys.exit(None)", 0, ""),
    ],
)
def test_the_programs_exit_code_is_ours(jitgraph, script, statement, code, message):
    done = jitgraph("run", script(f"import sys\n{statement}\n"))
    assert (done.returncode, done.stderr) == (code, message)


def test_ctrl_c_is_exit_code_130(script):
    path = script("import time\nprint('ready', flush=True)\ntime.sleep(60)\n")
    process = subprocess.Popen(
        [sys.executable, "-m", "jitgraph", "run", str(path)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert process.stdout.readline() == "ready\n"
    process.send_signal(signal.SIGINT)
    _, stderr = process.communicate(timeout=150)
    assert process.returncode == 130
    assert stderr == "jitgraph: interrupted\n"


def test_options_reach_the_runtime_through_the_environment(jitgraph, script):
    path = script(
        "import os\nprint(*(os.environ.get('JITGRAPH_' + name) for name in ('JIT', 'THREADS', 'SHOW', 'CHECK')))\n"
    )
    done = jitgraph("run", "--jit", "always", "--threads", "3", "--show", "plan,times", "--check", path)
    assert done.stdout == "always 3 plan,times 1\n"


def test_times_of_a_program_are_said_at_its_end(jitgraph, script):
    """On standard error, for standard output is the program's; the parts are the whole."""
    path = script(
        "import tensorflow as tf, time\nx = tf.ones([300, 300]) + 0.\ny = tf.matmul(x, x)\n"
        "z = tf.py_func(lambda a: time.sleep(0.2) or a, [y], tf.float32)\nwith tf.Session(jit='always') as s:\n"
        "    for _ in range(3):\n        s.run(z)\ntime.sleep(0.3)\nprint('done')\n"
    )
    done = jitgraph("run", "--times", path)
    assert (done.returncode, done.stdout) == (0, "done\n")
    parts = dict(re.findall(r"^ *(\S.*?)  +(\d+\.\d\d) +\d+%", done.stderr, re.MULTILINE))
    whole = float(re.search(r"where the (\S+) s of the program went", done.stderr).group(1))
    outside = float(parts["outside of runs: imports, building graphs, preparing data"])
    assert float(parts["operations on the host, by NumPy and Python"]) >= 0.6 and outside >= 0.3
    shown = [float(seconds) for name, seconds in parts.items() if not name.startswith(("PyFunc", "m"))]
    assert sum(shown) == pytest.approx(whole, abs=0.05)
    assert "matmul_tiles_f32" in done.stderr and "run PyFunc" in done.stderr


def test_times_are_said_where_a_program_ends_by_an_error(jitgraph, script):
    path = script("import tensorflow as tf\ntf.Session().run(tf.ones([2]) + 1.)\nraise ValueError('no')\n")
    done = jitgraph("run", "--times", path)
    assert done.returncode == 1 and "ValueError: no" in done.stderr and "Session.run around them, in 1 run" in done.stderr


@pytest.mark.parametrize(
    "end, code",
    [("s.run(tf.check_numerics(tf.log(x), 'bad'), {x: [-1.0]})", 1), ("s.run(tf.py_func(ctrl_c, [], tf.float32))", 130)],
)
def test_times_count_the_run_that_a_program_ends_in(jitgraph, script, end, code):
    """An error, or Ctrl-C, in the first run: it took its time too."""
    path = script(
        "import os, signal, tensorflow as tf\nx = tf.placeholder(tf.float32, [None])\n"
        f"def ctrl_c():\n    os.kill(os.getpid(), signal.SIGINT)\nwith tf.Session() as s:\n    {end}\n"
    )
    done = jitgraph("run", "--times", path)
    assert done.returncode == code and "Session.run around them, in 1 run " in done.stderr
    assert "-0" not in done.stderr and "bug of jitgraph" not in done.stderr


def test_times_are_those_of_one_process(jitgraph, script):
    path = script(
        "import os, sys, tensorflow as tf\nif os.fork():\n    os.wait()\n    print('parent')\nelse:\n    sys.exit(3)\n"
    )
    done = jitgraph("run", "--times", path)
    assert (done.returncode, done.stdout) == (0, "parent\n")
    assert done.stderr.count("of the program went") == 1


def test_threads_that_outlive_the_program_go_on_without_a_record(jitgraph, script):
    path = script(
        "import threading, time, tensorflow as tf\nx = tf.ones([2]) + 1.0\ns = tf.Session()\n"
        "def late():\n    for _ in range(8):\n        s.run(x)\n        time.sleep(0.1)\n    print('late', s.run(x), __name__)\n"
        "threading.Thread(target=late).start()\n"
    )
    done = jitgraph("run", "--times", path)
    assert (done.returncode, done.stdout) == (0, "late [2. 2.] __main__\n"), done.stderr


SPAWNING = """
import multiprocessing, sys
import tensorflow as tf
from tensorflow.contrib import slim

def twice(i):
    with tf.Graph().as_default(), tf.Session() as session:
        return int(session.run(tf.constant(i) * 2))

if __name__ == "__main__":
    with multiprocessing.get_context(sys.argv[1]).Pool(1) as pool:
        print(pool.map_async(twice, range(3)).get(40))
"""


@pytest.mark.parametrize("method", ["fork", "spawn", "forkserver"])
def test_processes_that_a_program_starts_import_tensorflow_too(jitgraph, script, method):
    done = jitgraph("run", script(SPAWNING), method)
    assert (done.returncode, done.stdout) == (0, "[0, 2, 4]\n"), done.stderr[-2000:]


def test_a_program_comes_from_standard_input(jitgraph):
    text = "import sys, tensorflow as tf\nprint(tf.__version__, sys.argv, __name__, '__file__' in globals())\n"
    done = jitgraph("run", "-", "--epochs", "3", input=text)
    assert (done.returncode, done.stdout) == (0, "1.15.5 ['-', '--epochs', '3'] __main__ False\n"), done.stderr
    done = jitgraph("run", "-", input="import sys\n\nsys.exit(1 / 0)\n")
    assert done.returncode == 1 and '  File "<stdin>", line 3, in <module>\n' in done.stderr


def test_the_command_starts_quickly(jitgraph, script):
    """Parsing and help need neither NumPy's users nor Numba: what is slow is imported where it is needed."""
    path = script(
        "import sys\nprint([name for name in ('numba', 'scipy', 'jinja2', 'llvmlite') if name in sys.modules])\n"
    )
    assert jitgraph("run", path).stdout == "[]\n"


def test_help_shows_examples_and_version_answers(jitgraph):
    assert "jitgraph run train.py" in jitgraph("run", "--help").stdout
    for command in ("run", "inspect", "bench", "doctor", "cache"):
        assert "Examples:" in jitgraph(command, "--help").stdout
    assert jitgraph("--version").stdout.startswith("jitgraph 0.")     # its own, not that of TensorFlow


@pytest.mark.parametrize("arguments", [["fly"], ["run", "--fly", "x.py"], ["doctor", "--jsn"], ["cache", "explain"]])
def test_wrong_usage_is_two_lines(jitgraph, arguments):
    done = jitgraph(*arguments)
    assert done.returncode == 2
    assert done.stderr.count("\n") == 2 and "--help" in done.stderr
