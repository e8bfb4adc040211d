"""The CUDA target at run time: what a GPU is asked to do, and who answers.

    driver      the calls that all of this is written against
    fake        a driver without a GPU: it runs kernels on the simulated grid and refuses what a GPU would punish
    fake_memory     its address spaces
    real        the driver of NVIDIA, through cuda-bindings
    machine     which driver there is, and its devices
    visible     which devices a session sees, by its configuration
    device      one device: its stream, its pooled memory, the kernels loaded on it
    variable    variables whose newest value may lie on a device
    array       results that stay on a device, for other libraries to use there
    installed   where libraries are
    cublaslt    the C functions of cuBLASLt, where that is installed
    fake_cublaslt   the same on a driver without a GPU
    products    matrix products by them
    cudnn       the C functions of cuDNN, where that is installed
    fake_cudnn  the same on a driver without a GPU
    convolutions    convolutions by them
    code        object code of kernels, by the store or the compiler
    launch      the kernels of a program, compiled
    stretches   what a program does on devices between steps of the host, and where values lie
    frame       one run of a program whose kernels are a device's

Nothing here is imported by a session whose target is the CPU, and importing it touches no driver.
"""
