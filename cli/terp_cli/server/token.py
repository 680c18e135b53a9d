"""The token that every call of a server needs: 128 random bits or more."""

import hmac
import os
import re
import secrets
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path

from terp.errors import SettingsError
from terp.settings.places import make_private

TOKEN_VARIABLE = "TERP_SERVER_TOKEN"  # noqa: S105  (the name of a variable)
_OPEN_S = 7 * 24 * 3_600
_SIGNATURE = re.compile(r"until=(\d{1,12})&signature=([0-9a-f]{64})", re.ASCII)
# 16 random bytes in base64.
_SHORTEST = 22
_MAKE = "python3 -c 'import secrets; print(secrets.token_urlsafe(32))'"


class ServerToken:
    """Compared in the same time whatever it is compared with; not shown by `repr`."""

    def __init__(self, text: str) -> None:
        self._text = text

    def matches(self, given: bytes) -> bool:
        """Return True if `given` is the token."""
        return hmac.compare_digest(given, self._text.encode())

    def signature(self, path: str) -> str:
        """The query with which this path opens for a week without the token, until that is another one."""
        until = int(time.time()) + _OPEN_S
        return f"?until={until}&signature={self._signed(path, until)}"

    def opens(self, path: str, query: str) -> bool:
        """Return True if a query is a valid signature that has not expired."""
        found = _SIGNATURE.fullmatch(query)
        return (
            found is not None
            and time.time() < int(found[1])
            and hmac.compare_digest(found[2], self._signed(path, int(found[1])))
        )

    def _signed(self, path: str, until: int) -> str:
        return hmac.new(self._text.encode(), f"{until} {path}".encode(), "sha256").hexdigest()

    def reveal(self) -> str:
        """The token itself: for its file, and for what keeps it out of texts."""
        return self._text


def token_of(environ: Mapping[str, str]) -> tuple[ServerToken, bool]:
    """The token in `TERP_SERVER_TOKEN`, else a new one; and whether it is new.

    Raises:
        SettingsError: the one that is given is too short, or cannot stand in a header.
    """
    given = environ.get(TOKEN_VARIABLE, "")
    if not given:
        return ServerToken(secrets.token_urlsafe(32)), True
    if len(given) < _SHORTEST or not all("!" <= letter <= "~" for letter in given):
        problem = (
            f"{TOKEN_VARIABLE} must have {_SHORTEST} characters or more, and no spaces. To make one: {_MAKE}"
        )
        raise SettingsError([problem])
    return ServerToken(given), False


@contextmanager
def written(token: ServerToken, folder: Path, port: int) -> Iterator[Path]:
    """The file with the token, which its owner alone can read, while the server of this port lives."""
    path = make_private(folder) / f"server-{port}.token"
    # What a server that was killed has left, or a link that somebody has put there, is not written through.
    path.unlink(missing_ok=True)
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    with os.fdopen(descriptor, "w") as file:
        file.write(f"{token.reveal()}\n")
    try:
        yield path
    finally:
        with suppress(OSError):
            path.unlink()
