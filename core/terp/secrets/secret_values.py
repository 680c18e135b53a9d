"""Which values are secret by where they stand, and in what forms they can stand in a text."""

import base64
import json
import re
from collections.abc import Iterator, Mapping
from os.path import exists
from urllib.parse import quote, unquote

from terp.analysis.effects.secret_names import is_secret_name

_URL_PASSWORD = re.compile(r"://[^\s/@:]*:([^\s/@]+)@")
_SHORTEST_SECRET = 8
# So many characters depend on what stands before a value in base64, by the bytes of that in its last group.
_BEFORE = (0, 2, 3)


def secrets_in(environment: Mapping[str, str], *others: str) -> tuple[str, ...]:
    """The values of the variables whose names say that they are secret, passwords in addresses, and `others`.

    Short ones are left out: they would match anything.
    """
    # One that names a file or socket says where a secret is; `Path.exists` raises for a long value.
    named = [value for name, value in environment.items() if is_secret_name(name) and not exists(value)]  # noqa: PTH110
    in_addresses = [found for value in environment.values() for found in _URL_PASSWORD.findall(value)]
    values = {*named, *others, *in_addresses, *map(unquote, in_addresses)}
    long = {value for value in values if len(value) >= _SHORTEST_SECRET}
    return tuple(sorted(long, key=lambda value: (-len(value), value)))


def written_forms(secret: str) -> Iterator[str]:
    """The value as it is, as it stands in JSON and in addresses, and whatever it is part of in base64."""
    yield secret
    yield json.dumps(secret)[1:-1]
    yield json.dumps(secret, ensure_ascii=False)[1:-1]
    yield quote(secret, safe="", errors="replace")
    content = secret.encode("utf-8", "replace")
    for before, lost in enumerate(_BEFORE):
        whole = (before + len(content)) * 8 // 6
        encoded = base64.b64encode(bytes(before) + content)[lost:whole].decode()
        yield encoded
        yield encoded.replace("+", "-").replace("/", "_")
