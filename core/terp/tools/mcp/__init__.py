"""MCP servers: programs and services whose tools are functions in the Python kernel.

terp holds the connections and the keys, and asks the person; code in the kernel has the functions alone.
"""
