"""The CUDA target at run time: what a GPU is asked to do, and who answers.

    driver      the calls that all of this is written against
    fake        a driver without a GPU: it runs kernels on the simulated grid and refuses what a GPU would punish
    fake_memory     its address spaces
    real        the driver of NVIDIA, through cuda-bindings
    machine     which driver there is, and its devices
    device      one device: its stream, its pooled memory, the kernels loaded on it
    variable    variables whose newest value may lie on a device
    frame       one run of a program whose kernels are a device's

Nothing here is imported by a session whose target is the CPU, and importing it touches no driver.
"""
