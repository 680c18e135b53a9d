"""The tools that terp brings, and what each of them lacks here."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from terp.settings import Settings
from terp.tools.files.declared import Tool
from terp.tools.toolbox import SHIPPED
from terp.tools.web.searching import NoProvider, provider_for

_MODULE = "terp_home.shipped"


def shipped_tools(settings: Settings, environ: Mapping[str, str]) -> tuple[Tool, ...]:
    """Each of them; `missing` is set where one cannot work."""
    lacking = {
        "search_web": _no_network(settings) or _no_search(settings, environ),
        "fetch_url": _no_network(settings),
        "view_image": _no_sight(settings),
    }
    return tuple(replace(tool, missing=lacking.get(tool.name, "")) for tool in _declared())


def _declared() -> tuple[Tool, ...]:
    # Read as any other tool file is, from what the kernel gets.
    from terp.tools.files.python_files import read_python  # noqa: PLC0415

    path = Path(__file__).parent.parent / "kernels" / "inside" / "shipped.py"
    read = read_python(path.read_text(encoding="utf-8"), SHIPPED, str(path), alone=False)
    return tuple(
        replace(tool, source=SHIPPED, how="import", target=f"{_MODULE}:{tool.name}") for tool in read.tools
    )


def _no_network(settings: Settings) -> str:
    closed = settings.sandbox == "strict" or not settings.network
    return "the network is closed to code: by network, or by sandbox: strict." if closed else ""


def _no_search(settings: Settings, environ: Mapping[str, str]) -> str:
    try:
        provider_for(settings, environ)
    except NoProvider as error:
        return error.message
    return ""


def _no_sight(settings: Settings) -> str:
    return (
        "supports_vision is off: the model cannot see pictures." if settings.supports_vision is False else ""
    )
