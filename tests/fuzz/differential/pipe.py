"""Asks a worker process, and starts it anew when a program kills it or takes too long."""

import json
import os
import pickle
import select
import struct
import subprocess
import time
from pathlib import Path

FOLDER = Path(__file__).parent.parent


class Pipe:
    """A worker that answers for one module; python: the interpreter that has it."""

    def __init__(self, python, module, seconds=60):
        self.python, self.module, self.seconds, self.process = python, module, seconds, None

    def ask(self, program, jit="off", seed=None, wide=False):
        """The answer to a program, or {"broken": why there is none}.

        seed: of an answer that rounds otherwise (`roundings`); wide: in float64.
        """
        if self.process is None or self.process.poll() is not None:
            self.process = subprocess.Popen(
                [self.python, "-m", "differential.worker", self.module],
                cwd=FOLDER,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
            )
        try:
            self.process.stdin.write((json.dumps({"program": program, "jit": jit, "seed": seed, "wide": wide}) + "\n").encode())
            self.process.stdin.flush()
            deadline = time.monotonic() + self.seconds
            (size,) = struct.unpack("<q", self.read(8, deadline))
            return pickle.loads(self.read(size, deadline))
        except TimeoutError:
            self.close()
            return {"broken": f"no answer in {self.seconds} s"}
        except (EOFError, BrokenPipeError):
            code = self.process.wait()
            self.close()
            return {"broken": f"the process ended with {code}"}

    def read(self, size, deadline):
        data, handle = bytearray(), self.process.stdout.fileno()
        while len(data) < size:
            if not select.select([handle], [], [], max(deadline - time.monotonic(), 0))[0]:
                raise TimeoutError
            more = os.read(handle, size - len(data))
            if not more:
                raise EOFError
            data += more
        return data

    def close(self):
        if self.process is not None:
            self.process.kill()
            self.process.wait()
            self.process = None
