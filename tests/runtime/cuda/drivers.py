"""Sessions, and arrays, on the devices of a driver of the test's own."""
import numpy as np

from jitgraph.runtime.cuda import machine
from jitgraph.runtime.cuda.machine import Machine


def use(monkeypatch, driver):
    """Lets sessions run on the devices of a driver."""
    count = len(driver.devices())
    monkeypatch.setenv("JITGRAPH_TARGET", f"cuda-simulator:{count}")
    monkeypatch.setitem(machine._MACHINES, count, Machine(driver))
    return driver


class OneDevice:
    """The first device of a driver, with arrays brought there and taken back."""

    def __init__(self, driver):
        self.driver, self.stream = driver, driver.stream(0)

    def bring(self, array):
        address = self.driver.alloc(0, max(array.nbytes, 1))
        self.driver.to_device(address, np.ascontiguousarray(array), self.stream)
        return address

    def taken(self, address, shape, dtype):
        found = np.empty(shape, dtype)
        self.driver.to_host(found, address, self.stream)
        self.driver.synchronize(self.stream)
        return found
