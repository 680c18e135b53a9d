"""The kernels of a gateway for a session, as its settings say, and what the model is told of them."""

from collections.abc import Mapping

from terp.artifacts import OUTPUTS
from terp.errors import SettingsError
from terp.kernels.options import KernelOptions
from terp.kernels.remote.address import gateway_of
from terp.kernels.remote.claims import Claims
from terp.kernels.remote.kernels import GatewayKernels, Origin
from terp.prompt import Facts
from terp.settings import Settings
from terp.store.places import Place


async def open_gateway(
    settings: Settings, options: KernelOptions, cwd: str, environ: Mapping[str, str], place: Place
) -> GatewayKernels:
    """The kernels behind `gateway_url`; `cwd` is absolute.

    A session that is kept finds those again that it had there.

    Raises:
        SettingsError: the address or the token is wrong, or a language that was chosen is not there.
        GatewayRefused: the gateway does not let us in.
        GatewayUnavailable: it does not answer.
    """
    gateway = gateway_of(settings, environ)
    if gateway is None:
        raise SettingsError(["gateway_url is not set."])
    claims = Claims(place.folder if place.keeper is not None else None, gateway.url)
    origin = Origin(cwd, place.folder / OUTPUTS, options, environ)
    return await GatewayKernels.connect(gateway, claims, origin)


def gateway_facts(settings: Settings, kernels: GatewayKernels) -> Facts:
    """What the model is told of where code runs."""
    return Facts(
        system=f"another machine than the user's, behind the Jupyter gateway {kernels.elsewhere}; of the "
        "user's own files only those are there that they attach",
        cwd="that of the kernel",
        languages=kernels.languages,
        max_output_chars=settings.max_output_chars,
        packages=settings.packages,
    )
