"""Kernels of other machines: behind a Jupyter Server, a Kernel Gateway or an Enterprise Gateway.

Kernels are found, started, interrupted and ended over REST; everything else travels over one websocket a
kernel. Nothing above `Connection` depends on the difference.
"""
