"""Kernels behind one protocol.

A `Connection` carries messages and can interrupt and end the kernel: a process of terp's own, a
provisioner's, a kernel of another program (`attached`), or one behind a gateway (`remote`). `RunningKernel`
is one life of a kernel; its one reader routes messages by the id of the request.
"""
