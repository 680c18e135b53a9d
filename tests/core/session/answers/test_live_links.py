"""Links to files in an answer lead to the files, or are no links."""

from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from terp.events import CodeFinished, Printed, TextDelta, TurnFinished
from terp.events.log import EventLog
from terp.events.messages import Assistant
from terp.events.outputs import Display, FileChange, RunEnded
from terp.events.run_log import RunLog
from terp.session.answers.answer_text import LiveLinks
from terp.testing import EchoKernel, ScriptedModel, call, collect
from tests.core.sessions import of, open_session

FILES = {"x.csv": "/proj/x.csv", "a b.png": "/proj/a b.png"}


def shown(*pieces: str) -> str:
    links = LiveLinks(lambda name: FILES.get(name, ""))
    return "".join(map(links.feed, pieces)) + links.finish()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("See [the table](sandbox:/mnt/data/x.csv).", "See [the table](/proj/x.csv)."),
        ("![plot](attachment:a%20b.png)", "![plot](</proj/a b.png>)"),
        ("Get it [here](sandbox:/gone.csv)!", "Get it here!"),
        ("![plot](sandbox:/image-1.png)", "plot"),
        ("[a](https://x.org) a[0](1) [b] ![c](/d.png)", "[a](https://x.org) a[0](1) [b] ![c](/d.png)"),
        ("Well! [so", "Well! [so"),
    ],
)
def test_a_link_leads_to_the_file_or_is_its_words(text: str, expected: str) -> None:
    assert shown(text) == expected


@given(
    parts=st.lists(
        st.sampled_from(["!", "[", "]", "(", ")", "sand", "box:", "/x.csv", "a", "\n", "[t](sandbox:x.csv)"]),
        max_size=12,
    ),
    size=st.integers(1, 12),
)
def test_the_same_is_shown_however_the_text_is_cut(parts: Sequence[str], size: int) -> None:
    text = "".join(parts)
    assert shown(*(text[at : at + size] for at in range(0, len(text), size))) == shown(text)


async def test_an_answer_links_to_what_a_run_has_made(tmp_path: Path) -> None:
    made = RunEnded("ok", files=(FileChange("/proj/x.csv", "created"), FileChange("/proj/y.csv", "deleted")))
    written = "Here: [x](sandbox:/x.csv), [y](sandbox:/y.csv)"
    session = open_session(tmp_path, ScriptedModel(call("go"), written), EchoKernel({"go": [made]}))
    events = await collect(session, "make it")
    assert events[-1] == TurnFinished("done", "Here: [x](/proj/x.csv), y")
    assert "".join(delta.text for delta in of(TextDelta, events)) == "Here: [x](/proj/x.csv), y"
    assert session.history[-1] == Assistant(written)
    await session.aclose()


def test_the_newest_file_of_a_name_counts_until_it_is_deleted() -> None:
    log = EventLog()
    runs = RunLog(log)

    def after(*files: FileChange) -> str:
        log.append(CodeFinished("c1", "ok", 0.1, files))
        return runs.newest_file("a.csv")

    assert after(FileChange("/w/b.csv", "created")) == ""
    assert after(FileChange("/w/a.csv", "created")) == "/w/a.csv"
    assert after(FileChange("/w/out/a.csv", "created"), FileChange("/w/a.csv", "modified")) == "/w/out/a.csv"
    log.append(Printed("c2", Display({}, {}, path="/s/outputs/a.csv")))
    assert runs.newest_file("a.csv") == "/s/outputs/a.csv"
    assert after(FileChange("/w/a.csv", "deleted")) == ""
