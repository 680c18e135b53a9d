"""References in answers of a session."""

import asyncio
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import aclosing
from pathlib import Path
from typing import Any

import pytest
from markdown_it import MarkdownIt

from terp.events import CodeProposed, Event, ModelRetrying, Noticed, TextDelta, TurnFinished
from terp.events.kernel import WrittenValue
from terp.events.messages import Assistant, Message, User
from terp.events.model import Chunk, Replied, Retrying, TextChunk
from terp.session.answers.references import as_markdown
from terp.session.session import Session
from terp.testing import EchoKernel, ScriptedModel, call, collect
from tests.core.sessions import of, open_session

VALUES = {
    "n": WrittenValue("42"),
    "text": WrittenValue("a *b*\n[c](d)"),
    "long": WrittenValue(why="it is long"),
}


def asked(tmp_path: Path, model: ScriptedModel, kernel: EchoKernel | None = None) -> Session:
    kernel = kernel or EchoKernel()
    kernel.values.update(VALUES)
    session = open_session(tmp_path, model, kernel)
    session.resources.references = True
    return session


def shown(events: Sequence[Event]) -> str:
    return "".join(delta.text for delta in of(TextDelta, events))


@pytest.mark.parametrize("chunk", [1, 2, 3, 7, 100])
async def test_an_answer_has_the_values_and_the_history_the_references(tmp_path: Path, chunk: int) -> None:
    written = "There are {{n}} rows, `{{n}}`, {{n:.1f}}"
    kernel = EchoKernel()
    kernel.values["n"] = WrittenValue("42")
    session = asked(tmp_path, ScriptedModel(written, chunk=chunk), kernel)
    events = await collect(session, "how many")
    assert events[-1] == TurnFinished("done", "There are 42 rows, `{{n}}`, 42")
    assert shown(events) == "There are 42 rows, `{{n}}`, 42"
    computed = [delta for delta in of(TextDelta, events) if delta.reference]
    assert computed == [TextDelta("42", "{{n}}"), TextDelta("42", "{{n:.1f}}")]
    assert session.history[-1] == Assistant(written)
    assert of(Noticed, events) == []
    await session.aclose()


async def test_without_the_setting_braces_are_left_alone(tmp_path: Path) -> None:
    session = asked(tmp_path, ScriptedModel("{{n}} {{f()}}"))
    session.resources.references = False
    events = await collect(session, "go")
    assert (shown(events), of(Noticed, events)) == ("{{n}} {{f()}}", [])
    await session.aclose()


async def test_what_fails_stands_as_written_and_person_and_model_are_told(tmp_path: Path) -> None:
    model = ScriptedModel("{{n}}, {{gone}}, {{f()}}, {{long}}", "ok")
    session = asked(tmp_path, model)
    events = await collect(session, "go")
    why = (
        "{{gone}} (there is no variable of that name); {{f()}} (only a name, keys that are written out, and "
        "a format can be filled in); {{long}} (it is long)"
    )
    assert shown(events) == events[-1].answer == "42, {{gone}}, {{f()}}, {{long}}"  # type: ignore[union-attr]
    assert of(Noticed, events) == [
        Noticed(f"Not filled in: {why}.", "The text stays as written; the model reads the reason.")
    ]
    await collect(session, "and now")
    told = model.requests[-1][-1]
    assert isinstance(told, User)
    assert told.text == (
        f"and now\n\n[In your last answer these references could not be filled in: {why}. The user saw them "
        "as you wrote them.]"
    )
    await session.aclose()


async def test_a_value_is_that_of_before_the_code_that_follows_in_its_reply(tmp_path: Path) -> None:
    class Counting(EchoKernel):
        async def value(self, name: str, keys: Sequence[Any], spec: str) -> WrittenValue:
            return WrittenValue(str(len(self.ran)))

    session = asked(tmp_path, ScriptedModel(["Now {{n}}", call("go")], "then {{n}}"), Counting())
    events = await collect(session, "go")
    proposed = next(at for at, event in enumerate(events) if isinstance(event, CodeProposed))
    assert (shown(events[:proposed]), shown(events[proposed:])) == ("Now 0", "then 1")
    await session.aclose()


async def test_a_reply_that_is_void_leaves_no_trace(tmp_path: Path) -> None:
    class Failing(ScriptedModel):
        async def stream(
            self, messages: Sequence[Message], tools: Sequence[Mapping[str, Any]] = ()
        ) -> AsyncGenerator[Chunk, None]:
            yield TextChunk("``` {{gone}} {{f()}} {{n")
            yield Retrying(1, "again", 0.0)
            yield TextChunk("{{n}}")
            yield Replied(Assistant("{{n}}"), "stop")

    session = asked(tmp_path, Failing())
    events = await collect(session, "go")
    retried = next(at for at, event in enumerate(events) if isinstance(event, ModelRetrying))
    assert (shown(events[retried:]), of(Noticed, events)) == ("42", [])
    assert events[-1] == TurnFinished("done", "42")
    await session.aclose()


async def test_an_interrupt_while_a_value_is_asked_for_shows_the_text_as_written(tmp_path: Path) -> None:
    asks = asyncio.Event()

    class Silent(EchoKernel):
        async def value(self, name: str, keys: Sequence[Any], spec: str) -> WrittenValue:
            asks.set()
            await asyncio.Event().wait()
            raise AssertionError

    session = asked(tmp_path, ScriptedModel("a {{n}} b", chunk=100), Silent())
    events: list[Event] = []

    async def turn() -> None:
        async with aclosing(session.turn("go")) as stream:
            events.extend([event async for event in stream])

    going = asyncio.create_task(turn())
    await asks.wait()
    await session.interrupt()
    await going
    assert (shown(events), events[-1]) == ("a {{n}} b", TurnFinished("interrupted", ""))
    await session.aclose()


async def test_a_value_is_without_secrets(tmp_path: Path) -> None:
    kernel = EchoKernel()
    kernel.values["key"] = WrittenValue("sk-" + "a" * 40)
    session = asked(tmp_path, ScriptedModel("The key: {{key}}"), kernel)
    assert (await collect(session, "go"))[-1] == TurnFinished("done", r"The key: \[redacted\]")
    await session.aclose()


@pytest.mark.parametrize(
    "value",
    [
        "1,234.50", "-3", "+1.5", "2024-01-02 03:04", "a_b_c", "café", "50 %", "5 < 6 & 7", "x^2", "(a)",
        "#5",
        "- a", "+ a", "1. a", "2)", "# a", "> a", "*a*", "_a_", "__a__", "`a`", "[a](http://b)", "![a](b)",
        "<b>", "<!-- a", "&lt;", "&#60;", "~~a~~", "a | b", "\\", "\\*", "---", "===", "***", "a\n\n# b",
        "    a", "$x$", "```", "<http://a>", "a\\\nb", "~~~", "| a |\n|---|",
    ],
)  # fmt: skip
@pytest.mark.parametrize("around", ["{}", "It is {} here", "| a |\n|---|\n| {} |", "- {}\n- b", "x{}y"])
def test_a_value_is_text_and_no_markup(value: str, around: str) -> None:
    parser = MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"])
    plain = parser.render(around.format("VALUE"))
    written = " ".join(value.split())
    escaped = written.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;").replace('"', "&quot;")
    assert parser.render(around.format(as_markdown(value))) == plain.replace("VALUE", escaped)


@pytest.mark.parametrize(
    "value", ["1,234.50", "-3", "+1.5", "a_b", "2024-01-02", "5 < 6", "x^2", "1e-5", "50 %"]
)
def test_an_ordinary_value_stands_as_it_is(value: str) -> None:
    assert as_markdown(value) == value


def test_control_characters_are_none_any_more() -> None:
    assert as_markdown("a\x1b[31mb\x00c\td\u2028e\x9bf\ud800") == "a \\[31mb c d e f\ufffd"


async def test_a_value_that_code_in_the_background_may_change_is_not_filled_in(tmp_path: Path) -> None:
    kernel = EchoKernel()
    session = asked(tmp_path, ScriptedModel([call(EchoKernel.ENDLESS)], "n is {{n}}"), kernel)
    turn = asyncio.create_task(collect(session, "how many"))
    await kernel.busy()
    session.jobs.detach()
    events = await turn
    await session.aclose()
    assert events[-1] == TurnFinished("done", "n is {{n}}")
    assert "{{n}} (code in the background may still change it)" in of(Noticed, events)[0].text
