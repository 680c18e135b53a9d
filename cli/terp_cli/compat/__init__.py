"""Open Interpreter's `AsyncInterpreter` and `Server`, for programs that were written against them."""

from terp_cli.compat.interpreter import AsyncInterpreter
from terp_cli.compat.server import Server

__all__ = ["AsyncInterpreter", "Server"]
