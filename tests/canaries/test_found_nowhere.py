"""Every canary is found in no sink but where it belongs. `world` says how they get there.

Not looked at is what belongs to the person: their screen, the clipboard that /copy fills, files that code
wrote, and what the model is told.
"""

from collections.abc import Mapping

import pytest

from tests.canaries.table import CANARIES, Canary
from tests.canaries.world import left_by
from tests.once import once

# Code needs the proxy to reach the network, as any program of the person does.
_BELONGS = {("environ", "HTTPS_PROXY"), ("processes", "HTTPS_PROXY")}
_SINKS = (
    "log",
    "full output",
    "page",
    "recording",
    "stream-json",
    "stderr",
    "environ",
    "processes",
    "arguments",
    "export ipynb",
    "export py",
    "export md",
    "export html",
    "list",
    "refused, plain",
    "refused, json",
    "refused, debug",
    "crash",
    "typed lines",
    "messages",
    "export of a talk",
    "titles",
)


@pytest.fixture(scope="module")
def sinks(tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, str]:
    left: Mapping[str, str] = once(tmp_path_factory, "canaries", left_by)
    return left


@pytest.mark.parametrize("sink", _SINKS)
@pytest.mark.parametrize("canary", CANARIES, ids=lambda canary: canary.name)
def test_a_canary_is_found_nowhere(sinks: Mapping[str, str], canary: Canary, sink: str) -> None:
    found = [part for part in canary.sought if part in sinks[sink]]
    belongs = (sink, canary.name) in _BELONGS
    assert found == (list(canary.sought) if belongs else [])


def test_every_sink_is_looked_at(sinks: Mapping[str, str]) -> None:
    assert set(sinks) == set(_SINKS)


@pytest.mark.parametrize(
    "sink", ["log", "full output", "page", "recording", "stream-json", "messages", "typed lines", "crash"]
)
def test_what_was_taken_out_is_marked(sinks: Mapping[str, str], sink: str) -> None:
    assert "[redacted]" in sinks[sink]
