"""The front ends of terp: a REPL, plain and JSON output."""
