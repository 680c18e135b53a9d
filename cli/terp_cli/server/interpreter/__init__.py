"""Open Interpreter's `AsyncInterpreter` and `Server`, for programs that were written against them."""

from terp_cli.server.interpreter.interpreter import AsyncInterpreter
from terp_cli.server.interpreter.server import Server

__all__ = ["AsyncInterpreter", "Server"]
