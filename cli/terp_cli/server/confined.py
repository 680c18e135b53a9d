"""What confines the code of a server's sessions, as it is said when the server starts."""

from collections.abc import Mapping
from pathlib import Path

from terp.kernels.sandbox.tier import is_confined
from terp.kernels.sandbox.wishes import confinement_of
from terp.settings import Settings


def confinement_told(settings: Settings, cwd: Path, environ: Mapping[str, str]) -> str:
    """The tier of the kernels of sessions, and what that means. It is tried out here, before anybody calls.

    Raises:
        NoSandbox: a sandbox is required, and there is none where code runs.
    """
    unasked = ", and it runs without being asked about (auto_run)" if settings.auto_run else ""
    confinement = confinement_of(settings, cwd, environ)
    if elsewhere := _elsewhere(settings):
        confinement.check_elsewhere(elsewhere)
        return f"none; code runs in {elsewhere}, where nothing of terp's confines it{unasked}"
    confinement.check()
    tier = confinement.what
    if is_confined(tier):
        return f"{tier}; it confines code{unasked}"
    why = f" ({confinement.missing})" if confinement.missing else ""
    return f"none; nothing confines code{why}{unasked}"


def _elsewhere(settings: Settings) -> str:
    if settings.gateway_url:
        return "kernels behind a gateway"
    return "a kernel of somebody else" if settings.attach else ""
