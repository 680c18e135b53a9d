"""A small session with something of everything, and what each format makes of it.

`python -m tests.core.store.export.scripted` writes the expected files anew; look at the difference.
"""

import base64
import struct
import zlib
from collections.abc import Sequence
from pathlib import Path

from terp.events import (
    Answered,
    Asked,
    CodeDeclined,
    CodeFinished,
    CodeProposed,
    CodeStarted,
    CodeTyped,
    Event,
    ModelCalled,
    Printed,
    ReasoningDelta,
    TextDelta,
    TurnFinished,
    TurnStarted,
)
from terp.events.log import Record
from terp.events.outputs import Display, Error, InputRequest, Output, RunStatus, Text
from terp.store.export.notebook import notebook
from terp.store.export.page import page
from terp.store.export.script import script
from terp.store.export.story import Rendered, Story, story_of
from terp.store.export.transcript import transcript

EXPECTED = Path(__file__).parent / "expected"
FOLDER = Path("/sessions/2026-11-21-abcd")


def png(width: int = 8, height: int = 4) -> str:
    """An orange rectangle, in base64."""
    rows = b"".join(b"\0" + b"\xff\x80\x00" * width for _ in range(height))
    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    chunks = ((b"IHDR", header), (b"IDAT", zlib.compress(rows)), (b"IEND", b""))
    made = [struct.pack(">I", len(d)) + t + d + struct.pack(">I", zlib.crc32(t + d)) for t, d in chunks]
    return base64.b64encode(b"\x89PNG\r\n\x1a\n" + b"".join(made)).decode()


def proposed(call_id: str, code: str, language: str = "python") -> CodeProposed:
    return CodeProposed(call_id, language, code, "", "/work", 1, "none")


def ran(
    call_id: str,
    code: str,
    *outputs: Output,
    count: int = 1,
    language: str = "python",
    status: RunStatus = "ok",
    note: str = "",
) -> list[Event]:
    """The events of one approved call."""
    return [
        proposed(call_id, code, language),
        CodeStarted(call_id, count),
        *(Printed(call_id, output) for output in outputs),
        CodeFinished(call_id, status, 0.5, note=note),
    ]


def turn(prompt: str, *events: Event, attachments: tuple[str, ...] = ()) -> list[Event]:
    return [
        TurnStarted(prompt, attachments),
        ModelCalled("scripted/model", 1),
        *events,
        TurnFinished("done", ""),
    ]


def records(events: Sequence[Event]) -> list[Record]:
    return [Record(number, 1_795_219_200.0 + number, event) for number, event in enumerate(events, 1)]


def told(*events: Event) -> Story:
    return story_of(records(events), FOLDER)


TABLE = (
    '<div><style scoped>td { color: red }</style><table border="1" class="dataframe"><thead><tr><th></th>'
    "<th>売上</th></tr></thead><tbody><tr><th>東京</th><td>12</td></tr></tbody></table></div>"
)
FAILED = Error(
    "NameError",
    "name 'sale' is not defined",
    ("\x1b[31mNameError\x1b[39m", "Cell In[1], line 2", "NameError: name 'sale' is not defined"),
)


def session() -> list[Record]:
    """Prompt, failure, table and picture, a declined call, one that was typed, a shell, CJK."""
    first = turn(
        "Plot 東京 sales\nby month",
        ReasoningDelta("A *plot*, </details> then.\n\n```py\n"),
        ReasoningDelta("sale"),
        TextDelta("I'll look **first**.\n\n| a | b |\n|---|---|\n| 1 | 2 |"),
        *ran("c1", "import numpy as np\nsale", Text("stdout", "10 %\r90 %\n"), FAILED, status="error"),
        ModelCalled("scripted/model", 2),
        *ran(
            "c2",
            "sales",
            Display({"text/plain": "    売上\n東京  12", "text/html": TABLE}, is_result=True),
            Display({"image/png": png(), "text/plain": "<Figure>"}, path="/elsewhere/c2-1.png"),
            count=2,
        ),
        proposed("c3", "rm -rf sales", "shell"),
        CodeDeclined("c3", "それはだめ"),
        ModelCalled("scripted/model", 3),
        proposed("c4", 'name = input("Name? ")'),
        CodeStarted("c4", 3),
        Printed("c4", InputRequest("Name? ")),
        Asked("q1", "input", "Name? "),
        Answered("q1", "Ada", "the person"),
        CodeFinished("c4", "ok", 1.0),
        TextDelta("Here it is: ```12```."),
        attachments=("sales.csv",),
    )
    _, *typed = ran("typed1", "echo '````'", Text("stdout", "````\n"), count=4, language="shell")
    return records([*first, CodeTyped("typed1", "shell", "echo '````'"), *typed])


def story() -> Story:
    return story_of(session(), FOLDER)


def rendered() -> dict[str, Rendered]:
    """What each format makes of the session, by the name of its expected file."""
    scripted = story()
    whole = page(scripted).text
    return {
        "session.ipynb": notebook(scripted),
        "session.py": script(scripted, {"numpy": ["numpy"]}),
        "session.md": transcript(scripted, "session"),
        # The colours above are those of Pygments.
        "session.html": Rendered(whole[whole.index("<body>") :]),
    }


if __name__ == "__main__":
    EXPECTED.mkdir(exist_ok=True)
    for name, made in rendered().items():
        (EXPECTED / name).write_text(made.text, encoding="utf-8")
