"""MCP servers: programs and services whose tools are functions in the Python kernel.

terp holds the connections and the keys, and asks the user; code in the kernel only has the functions.
"""
