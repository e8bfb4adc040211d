"""Sessions on the devices of a driver of the test's own."""
from jitgraph.runtime.cuda import machine
from jitgraph.runtime.cuda.machine import Machine


def use(monkeypatch, driver):
    """Lets sessions run on the devices of a driver."""
    count = len(driver.devices())
    monkeypatch.setenv("JITGRAPH_TARGET", f"cuda-simulator:{count}")
    monkeypatch.setitem(machine._MACHINES, count, Machine(driver))
    return driver
