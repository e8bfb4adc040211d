"""The line of a training loop: what it says, and that there is none where no terminal takes the messages."""
import os
import pty
import subprocess
import sys

from jitgraph.app.step_line import StepLine

PROGRAM = """
import sys, time
import tensorflow as tf
tf.logging.set_verbosity(tf.logging.{level})
step = tf.train.get_or_create_global_step()
w = tf.get_variable("w", initializer=2.0)
loss = w * w
train = tf.train.GradientDescentOptimizer(0.1).minimize(loss, global_step=step)
{loop}
"""

MONITORED = """
hooks = [tf.train.NanTensorHook(loss), tf.train.StopAtStepHook(7), tf.train.LoggingTensorHook([loss], every_n_iter=3)]
with tf.train.MonitoredTrainingSession(hooks=hooks) as session:
    while not session.should_stop():
        session.run(train)
        time.sleep(0.12)
"""

SLIM = """
train = tf.contrib.slim.learning.create_train_op(loss, tf.train.GradientDescentOptimizer(0.1))
tf.contrib.slim.learning.train(train, None, number_of_steps=5, save_summaries_secs=0)
"""


def on_terminal(loop, level="INFO"):
    """What a program writes to standard error, a terminal."""
    ours, theirs = pty.openpty()
    process = subprocess.Popen([sys.executable, "-c", "import jitgraph.compat; jitgraph.compat.install()\n"
                                + PROGRAM.format(level=level, loop=loop)], stderr=theirs, stdout=subprocess.DEVNULL,
                               env={**os.environ, "TERM": "xterm", "COLUMNS": "100"})
    os.close(theirs)
    text = b""
    while True:
        try:
            more = os.read(ours, 4096)
        except OSError:                 # the other end is closed
            break
        if not more:
            break
        text += more
    os.close(ours)
    assert process.wait(60) == 0, text.decode()
    return text.decode()


def plain(text):
    return text.replace("\x1b[1m", "").replace("\x1b[0m", "")


def test_a_terminal_shows_step_rate_and_loss():
    text = plain(on_terminal(MONITORED))
    last = text.splitlines()[-1]
    assert last.startswith("step 6   ") and " steps/s   loss 0.27" in last      # the step before the run, as hooks read it
    before_messages = [text[:at] for at in range(len(text)) if text.startswith("INFO:tensorflow:", at)]
    assert len(before_messages) >= 3
    clean = "\n", "\x1b[2K", "\x1b[K"        # the last is of the line of kernels that are being compiled
    assert all(before == "" or before.endswith(clean) for before in before_messages)


PRINTING = """
with tf.train.MonitoredTrainingSession(hooks=[tf.train.NanTensorHook(loss)]) as session:
    for number in range(6):
        session.run(train)
        print("the program's", number, end="" if number == 3 else "\\n", file=sys.stderr)
        time.sleep(0.12)
print("after", file=sys.stderr)
assert type(sys.stderr).__name__ == "TextIOWrapper"
"""


def test_the_line_gives_way_to_what_the_program_prints():
    """And does not come back while the program has not ended a line."""
    lines = plain(on_terminal(PRINTING)).splitlines()
    shown = [line.rpartition("\x1b[2K")[2] for line in lines]
    assert [line for line in shown if line.startswith("the program's")] == [
        "the program's 0", "the program's 1", "the program's 2", "the program's 3the program's 4", "the program's 5"]
    assert shown[-1] == "after" and shown[-2].startswith("step 5   ")


def test_slim_shows_it_too():
    assert " steps/s   loss 0.6" in plain(on_terminal(SLIM)).splitlines()[-1]


def test_nothing_is_shown_where_messages_are_not():
    assert "step" not in on_terminal(MONITORED, level="WARN")


def test_nothing_is_shown_where_there_is_no_terminal():
    run = subprocess.run([sys.executable, "-c", "import jitgraph.compat; jitgraph.compat.install()\n"
                          + PROGRAM.format(level="INFO", loop=MONITORED)], capture_output=True, text=True, check=True)
    assert "steps/s" not in run.stderr and "\x1b" not in run.stderr and "\r" not in run.stderr


class _Seconds:
    now = 0.0

    def __call__(self):
        return self.now


def test_a_rate_is_that_of_the_last_second():
    seconds = _Seconds()
    line = StepLine(seconds)
    line._console = _Silent()
    for step in range(31):
        seconds.now = step * 0.1
        line.saw(step=step, loss=1.0)
    assert line.text() == "step [bold]30[/]   10 steps/s   loss [bold]1[/]"
    for step in range(31, 51):
        seconds.now = 3 + (step - 30) * 0.5
        line.saw(step=step)
    assert "2 steps/s" in line.text()


class _Silent:
    def print(self, *args, **kwargs):
        pass

    def control(self, *controls):
        pass
