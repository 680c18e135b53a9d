"""The sandbox: a policy of what code may do, and the tiers of this machine that enforce it.

A tier wraps the command of a kernel. The tier is chosen at each start of a kernel. Some rights a process
can only drop itself: it does so in `entering`, before it becomes the kernel.
"""
