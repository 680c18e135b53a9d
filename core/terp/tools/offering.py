"""Services that tools in a kernel call: consent, answers typed by the user, and requests with a key."""

import json
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Protocol

from terp.errors import NobodyThere, TerpError
from terp.events.outputs import Service
from terp.person import Consent
from terp.person.dialog import UserDialog
from terp.settings import Settings
from terp.text.dataclasses import dataclass
from terp.tools.web.searching import MOST_RESULTS, provider_for, search

if TYPE_CHECKING:
    from terp.text.addresses import Destination

_SHOWN_CHARS = 2_000


class OffersServices(Protocol):
    """A registry of services that code in kernels calls by name."""

    def offer(self, name: str, service: Service) -> None:
        """Let code call `service` by `name`."""


def offer_tools(
    to: OffersServices,
    dialog: UserDialog,
    settings: Settings,
    environ: Mapping[str, str],
    network: Callable[[], bool] = lambda: True,
) -> None:
    """Offer the services that terp's own tools and manual tools call from a kernel.

    Services that use the network are refused while `network()` is False.
    """
    tools = ToolServices(dialog, settings, environ, network)
    to.offer("search_web", tools.search_web)
    to.offer("fetch_url", tools.fetch_url)
    to.offer("manual_tool", tools.manual_tool)


@dataclass(frozen=True, slots=True)
class ToolServices:
    """The services: each takes the arguments of a call and returns a JSON value.

    A TerpError is raised in the code that called.
    """

    dialog: UserDialog
    settings: Settings
    environ: Mapping[str, str]
    network: Callable[[], bool] = lambda: True

    async def search_web(self, arguments: Mapping[str, Any]) -> Any:
        """Return search results as title, url and snippet.

        Raises:
            NoProvider: no search provider is configured; the message names what is missing.
            SearchFailed: the provider did not answer.
        """
        self._check_network()
        count = max(1, min(int(arguments["count"]), MOST_RESULTS))
        return await search(provider_for(self.settings, self.environ), str(arguments["query"]), count)

    async def fetch_url(self, arguments: Mapping[str, Any]) -> Any:
        """Return a page's text, and its URL after redirects.

        Raises:
            FetchFailed, BadAddress: the page cannot be fetched as text.
        """
        self._check_network()
        # Few sessions fetch a page, and these take 3 ms of every start.
        from terp.tools.web.fetching import fetch  # noqa: PLC0415
        from terp.tools.web.page_text import text_of  # noqa: PLC0415

        page = await fetch(str(arguments["url"]), self._allow_private)
        return {"url": page.url, "text": await text_of(page)}

    async def manual_tool(self, arguments: Mapping[str, Any]) -> Any:
        """Return the lines that the user types as the result of a tool; an empty line ends them.

        Raises:
            TerpError: nobody can answer.
        """
        name = str(arguments["name"])
        given = [
            f"  {key} = {json.dumps(value, ensure_ascii=False)}" for key, value in arguments["given"].items()
        ]
        call = "\n".join(given)[:_SHOWN_CHARS]
        prompt = f"The model calls {name} with\n{call or '  nothing'}\nIts result; an empty line ends it: "
        lines: list[str] = []
        try:
            while line := await self.dialog.line(prompt):
                lines.append(line)
                prompt = "… "
        except NobodyThere as nobody:
            if not lines:
                raise TerpError(f"{name} is answered by a person. {nobody.message}") from nobody
        return "\n".join(lines)

    def _check_network(self) -> None:
        if not self.network():
            raise TerpError("The network is closed to code here. The user can open it with /allow network.")

    async def _allow_private(self, to: "Destination") -> bool:
        where = f" ({', '.join(to.ips)})" if to.ips and to.ips != (to.host,) else ""
        return await self.dialog.allow(
            Consent(
                f"Fetch a page from {to.host}{where}, port {to.port}?",
                "It is an address of this machine or its own network, which others cannot reach.",
            )
        )
