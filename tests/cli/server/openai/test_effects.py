"""Questions about effects (`approve: effect`) are answered by the next message, in real kernels."""

from pathlib import Path

import pytest

from tests.cli.running import Terp
from tests.cli.server.effects import connects, needs_holder
from tests.cli.server.openai.test_process import client, said
from tests.loopback import Call, Loopback

pytestmark = needs_holder


@pytest.mark.parametrize(
    ("answers", "result", "reason"),
    [
        (["Yes.", "no"], "connected\nrefused", ""),
        (["a"], "connected\nconnected", ""),
        (["R"], "connected\nconnected", ""),
        (["n", " y "], "refused\nconnected", ""),
        (["Use the cache.", "All of it?"], "refused\nrefused", "Use the cache."),
    ],
)
def test_the_next_message_answers(tmp_path: Path, answers: list[str], result: str, reason: str) -> None:
    with Loopback([]) as model:
        model.script += [Call(code=connects(model, times=2)), "Done."]
        with client(Terp(tmp_path), model, "--approve", "effect") as own:
            texts = ["Connect twice."]
            for answer in answers:
                texts += [said(own, *texts), answer]
            done = said(own, *texts)
    assert "- a: all of this run (connect to any address)" in texts[1]
    assert done.endswith("Done.")
    read = str(model.requests[-1]["messages"])
    assert (repr(result)[1:-1] in read, reason in read) == (True, True)
