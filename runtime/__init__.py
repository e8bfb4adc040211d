"""Sessions, plan cache, executor, memory, devices and the store of object code."""
