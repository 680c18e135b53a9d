"""The sandbox: a policy of what code may do, and the tiers of this machine that enforce it.

A tier wraps the command of a kernel. Which one is decided at each start of a kernel. Rights that a process
can only give up itself, it gives up in `entering`, before the kernel takes its place.
"""
