"""The runtime: sessions that run graphs.  What `Session.run` passes through:

    fetch, feed     the structure of the fetches becomes a list of tensors, what is fed arrays
    session         finds the plan of this signature, or has one made
    plan            decides who runs it: the reference (the first run), or what the compiler makes (all others)
    reference       operations one by one, by their NumPy meaning
    plan.Segment    a stretch of the plan whose sizes are known when it starts: finds the program for the shapes that came
    compiled        that program with its kernels loaded (library, store: from memory, a file, or the compiler)
    binding         the same for certain sizes: every number that a run needs
    frame           one run: the addresses of inputs, temporaries and outputs, and the steps in order
    interpreter     a stretch of kernels as one native call, over the threads of the pool
    hostcall        a step on the host, by the NumPy meaning of its operation
    functions       a step that calls functions: conditionals and loops run the sub-programs that the compiler divided them
                    into, each through a plan of its own (loop_steps, iterations, scalar_loops, product_sums)

The session keeps the values between runs (`state`: variables, random streams, queues).
"""
