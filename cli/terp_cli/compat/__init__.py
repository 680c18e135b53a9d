"""Open Interpreter's `AsyncInterpreter`, for programs that were written against it."""

from terp_cli.compat.interpreter import AsyncInterpreter

__all__ = ["AsyncInterpreter"]
