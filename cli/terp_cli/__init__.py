"""The front ends of terp: REPL, plain and JSON output, commands, server."""
