"""The generated parts of docs/server.md; `python -m terp_cli.server.native.documents` writes them."""

import dataclasses
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from terp.events import wire
from terp.settings import Settings
from terp.settings.places import find_places
from terp_cli.server.access import OwnNames, ServerToken
from terp_cli.server.connections import ServerLimits
from terp_cli.server.openai import routes as openai
from terp_cli.server.opening import OF_CLIENTS, SettingsOpener
from terp_cli.server.serving import application
from terp_cli.server.sessions import Sessions
from terp_cli.server.workspaces import Workspaces

_PART = re.compile(r"(<!-- made: (\w+) -->\n).*?(<!-- end -->)", re.DOTALL)


def place() -> Path:
    """Return the path of the page in a checkout."""
    return Path(__file__).parents[4] / "docs" / "server.md"


def fresh(page: str, document: Mapping[str, Any]) -> str:
    """Return the page with its generated parts up to date; `document` is the server's OpenAPI document."""
    parts = {
        "routes": _routes(document),
        "events": _table(wire.event_types()),
        "outputs": _table(wire.output_types()),
        "settings": [", ".join(f"`{name}`" for name in OF_CLIENTS) + "."],
    }
    written = {name: "".join(f"{line}\n" for line in lines) for name, lines in parts.items()}
    return _PART.sub(lambda found: found[1] + written[found[2]] + found[3], page)


def _routes(document: Mapping[str, Any]) -> list[str]:
    rows = [
        f"| `{method.upper()}` | `{path}` | {_sentence(route.get('description', ''))} |"
        for path, found in document["paths"].items()
        for method, route in found.items()
    ]
    return ["| | | |", "|---|---|---|", *rows]


def _table(types: Mapping[str, Any]) -> list[str]:
    rows = ["| | fields | |", "|---|---|---|"]
    for name, kind in types.items():
        fields = ", ".join(f"`{field.name}`" for field in dataclasses.fields(kind)) or "none"
        rows.append(f"| `{name}` | {fields} | {_sentence(kind.__doc__ or '')} |")
    return rows


def _sentence(text: str) -> str:
    """Return the first line of a docstring, escaped for a table."""
    return text.partition("\n")[0].replace("|", "\\|")


def document() -> Mapping[str, Any]:
    """Return the OpenAPI document of the server; it does not depend on the settings."""
    # No session is ever opened for it.
    workspaces, token = Workspaces(Path(), find_places({})), ServerToken("")
    opener = SettingsOpener(Settings, lambda _: Settings(), workspaces, {}, token)
    sessions = Sessions(opener, workspaces, ServerLimits())
    app = application(sessions, token, OwnNames("127.0.0.1", 80))
    app.include_router(openai.router(sessions))
    return app.openapi()


if __name__ == "__main__":
    place().write_text(fresh(place().read_text(encoding="utf-8"), document()), encoding="utf-8")
