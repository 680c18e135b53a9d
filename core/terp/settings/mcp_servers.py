"""An MCP server in the settings, and its `${VARIABLE}`s, which keep keys out of files."""

import re
from collections.abc import Mapping
from urllib.parse import urlsplit

from terp.errors import TerpError
from terp.settings.setting import setting
from terp.text.dataclasses import dataclass, replace

_VARIABLE = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*)\}")


@dataclass(frozen=True, slots=True)
class McpServer:
    """An MCP server: a program that is used over stdin and stdout, or a URL.

    `${VARIABLE}` in a text stands for that variable of terp's environment.
    """

    command: str = setting("", "the program, which is used over its stdin and stdout", metavar="PROGRAM")
    args: tuple[str, ...] = setting((), "its arguments")
    env: Mapping[str, str] = setting(
        {}, "variables to pass to it, besides harmless ones", keys=r"[A-Za-z_][A-Za-z0-9_]*"
    )
    cwd: str = setting("", "the directory it works in", unset="that of the session", metavar="DIR")
    url: str = setting("", "the address, in place of a command (streamable HTTP)", metavar="URL")
    headers: Mapping[str, str] = setting({}, "HTTP headers, such as Authorization")
    timeout_s: float = setting(
        60.0, "how long a call may take; waiting for you does not count", unit="s", unset="for ever"
    )

    @property
    def where(self) -> str:
        """Its program or address, without a possible key in the address."""
        if not self.url:
            return " ".join([self.command, *self.args])
        parts = urlsplit(self.url)
        host = parts.netloc.rpartition("@")[2]
        return f"{parts.scheme}://{host}{'/…' if parts.path.strip('/') or parts.query else ''}"

    @property
    def problem(self) -> str:
        """Return the mistake in it, to follow its name; "" for none."""
        if not self.command and not self.url:
            return "needs a command, or a url"
        if self.command and self.url:
            return "has a command and a url, and can have only one"
        if self.url and not self.url.startswith(("http://", "https://")):
            return f'has the url "{self.url[:60]}", which must begin with http:// or https://'
        if self.url and (self.args or self.env or self.cwd):
            return "has a url, so args, env and cwd have no effect"
        return "has a command, so headers have no effect" if self.command and self.headers else ""


def between_variables(text: str) -> list[str]:
    """Return the pieces of a text between the variables that it names."""
    return _VARIABLE.sub("\0", text).split("\0")


class NoVariable(TerpError):
    """A variable that settings name is not set."""


def variables_in(server: McpServer) -> frozenset[str]:
    """Return the variables that the server names."""
    texts = (
        server.command,
        *server.args,
        *server.env.values(),
        server.cwd,
        server.url,
        *server.headers.values(),
    )
    return frozenset(name for text in texts for name in _VARIABLE.findall(text))


def filled_in(server: McpServer, environ: Mapping[str, str]) -> McpServer:
    """Return the server with the values of the variables that it names.

    Raises:
        NoVariable: one of them is not set, or empty.
    """

    def value(found: re.Match[str]) -> str:
        if not environ.get(found[1]):
            raise NoVariable(f"${{{found[1]}}} is not set in terp's environment.")
        return environ[found[1]]

    def filled(text: str) -> str:
        return _VARIABLE.sub(value, text)

    return replace(
        server,
        command=filled(server.command),
        args=tuple(map(filled, server.args)),
        env={name: filled(text) for name, text in server.env.items()},
        cwd=filled(server.cwd),
        url=filled(server.url),
        headers={name: filled(text) for name, text in server.headers.items()},
    )
