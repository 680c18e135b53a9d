"""Recorded streams cut off between two of their events."""

import json
import random
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from itertools import islice, zip_longest
from typing import Any

from terp.errors import ModelError
from terp.events.model import Replied
from terp.models.building import open_adapter
from terp.settings.model_settings import AdapterName, ModelOptions
from tests.core.models.recorded import ASKED, CALLS_NO_TOOLS, ROOT, TOOL, Recorded, collect, streams
from tests.loopback import Loopback, Raw, Scripted


@dataclass(frozen=True)
class Cut:
    """The first `end` bytes of a stream; `whole` if the reply has ended by then."""

    recorded: Recorded
    adapter: AdapterName
    end: int
    broken: bool
    whole: bool

    def __str__(self) -> str:
        how = "reset" if self.broken else "ended"
        return f"{self.adapter}:{self.recorded.route}:{self.recorded.file}:{self.end}:{how}"


def cuts() -> Iterator[Cut]:
    """Every cut of every recording, on its first route, through each adapter that serves it."""
    for one in {one.file: one for one in reversed(list(streams()))}.values():
        adapters: tuple[AdapterName, ...] = (
            ("direct", "litellm") if one.wire == "openai-chat" else ("litellm",)
        )
        for end, whole in boundaries(one.file, one.wire):
            for adapter in adapters:
                for broken in (False, True):
                    yield Cut(one, adapter, end, broken, whole)


def sample(number: int) -> list[Cut]:
    """Some of them, always the same: of each wire, adapter and way to end about as many."""
    kinds: dict[tuple[Any, ...], list[Cut]] = {}
    shuffled = list(cuts())
    random.Random(15).shuffle(shuffled)
    for one in shuffled:
        kinds.setdefault((one.recorded.wire, one.adapter, one.broken, one.whole), []).append(one)
    in_turn = (one for row in zip_longest(*kinds.values()) for one in row if one is not None)
    return list(islice(in_turn, number))


@cache
def boundaries(file: str, wire: str) -> list[tuple[int, bool]]:
    """Where a stream can be cut, and whether the finish reason has come by then."""
    body = (ROOT / file).read_bytes()
    found, at, whole = [(0, False)], 0, False
    for event in _events(body, wire):
        at += len(event)
        whole = whole or any(map(finishes, _data(event, wire)))
        found.append((at, whole))
    return found


def finishes(data: Mapping[str, Any]) -> bool:
    """Return True if this part of a stream says why the reply ends."""
    kind = data.get("type")
    return bool(
        any(choice.get("finish_reason") for choice in data.get("choices") or ())
        or any(one.get("finishReason") for one in data.get("candidates") or ())
        or (kind == "message_delta" and data["delta"].get("stop_reason"))
        or kind in ("response.completed", "response.incomplete", "response.failed")
        or data.get("done") is True
    )


def _events(body: bytes, wire: str) -> list[bytes]:
    if wire == "ndjson":
        return body.splitlines(keepends=True)
    return re.findall(rb".+?(?:\r?\n\r?\n|\Z)", body, re.DOTALL)


def _data(event: bytes, wire: str) -> Iterator[Mapping[str, Any]]:
    for line in event.splitlines():
        data = line if wire == "ndjson" else line.removeprefix(b"data:").strip()
        if data.startswith(b"{"):
            yield json.loads(data)


async def outcome_of(cut: Cut, server: "Cutting") -> str:
    """ "whole" or "broke off"; or what else came of the request."""
    server.body = Raw((ROOT / cut.recorded.file).read_bytes()[: cut.end], broken=cut.broken)
    name = f"{cut.recorded.route}/{cut.recorded.model}"
    model = open_adapter(
        ModelOptions(name, adapter=cut.adapter, api_base=server.url, api_key="key-of-the-test"), environ={}
    )
    tools = [] if cut.recorded.route in CALLS_NO_TOOLS else [TOOL]
    try:
        chunks = await collect(model.stream(ASKED, tools))
    except ModelError as error:
        return "broke off" if error.retryable else f"{type(error).__name__}: {error.message}"
    finally:
        await model.aclose()
    return "whole" if isinstance(chunks[-1], Replied) else "no reply"


class Cutting(Loopback):
    """Answers every request with `body`."""

    body: Scripted = ""

    def take(self, path: str, headers: Mapping[str, str], body: dict[str, Any]) -> Scripted:
        return self.body


async def wrong(chosen: Iterable[Cut]) -> list[tuple[str, str]]:
    """The cuts that came to something else than they should, each with what that was."""
    with Cutting([]) as server:
        found = [(one, await outcome_of(one, server)) for one in chosen]
    # A reset takes away what the client has not read yet, which may be the end.
    may_come = {(True, False): ("whole",), (True, True): ("whole", "broke off")}
    return [
        (str(one), came)
        for one, came in found
        if came not in may_come.get((one.whole, one.broken), ("broke off",))
    ]
