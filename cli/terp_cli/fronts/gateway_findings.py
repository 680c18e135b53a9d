"""What `terp doctor` says of the gateway behind which code runs."""

import asyncio
from collections.abc import Iterator, Mapping
from typing import Literal

from terp.errors import KernelStartFailed, SettingsError
from terp.kernels.remote.rest import GatewayApi, GatewaySpecs
from terp.settings import Settings
from terp.settings.gateway import Gateway, gateway_of

Told = tuple[Literal["ok", "note", "wrong"], str, str]


def gateway_findings(settings: Settings, environ: Mapping[str, str]) -> Iterator[Told]:
    """How it is, in words, and what can be done when it is not well. It is asked for what it has."""
    try:
        gateway = gateway_of(settings, environ)
        assert gateway is not None, "who asks has a gateway"
        specs = asyncio.run(_asked(gateway))
    except SettingsError as error:
        yield from (("wrong", problem, "") for problem in error.problems)
        return
    except KernelStartFailed as error:
        yield "wrong", error.message, error.remedy
        return
    token = f"the token of {gateway.token.origin}" if gateway.token.value else "no token"
    yield "ok", f"code runs at {gateway.host} ({settings.origin('gateway_url')}), with {token}", ""
    named = [f"{spec.name} ({spec.language})" for spec in specs.all]
    yield "ok", f"kernelspecs there: {', '.join(named) or 'none'}", ""
    if gateway.is_open_to_readers:
        told = "the token and the code go to it unencrypted: whoever is on the way can read both."
        yield "note", told, "use its https:// address, or a tunnel: ssh -L 8888:localhost:8888 HOST"


async def _asked(gateway: Gateway) -> GatewaySpecs:
    api = GatewayApi(gateway)
    try:
        return await api.specs()
    finally:
        await api.aclose()
