"""Calls of a model are written down, and the file answers in its place."""

import json
import stat
from pathlib import Path

import pytest

from terp.errors import ContextFull, RecordingMiss, SettingsError, ToolsRejected, Unavailable
from terp.events.messages import Assistant, Message, Result, System, ToolCall, User
from terp.events.model import CallDelta, Chunk, ReasoningChunk, Replied, Retrying, TextChunk, Usage
from terp.models.recording.models import RecordingModel, ReplayModel
from terp.models.repair.fences import TextFallback
from terp.models.tool import schema
from tests.core.models.fakes import FakeModel, called, collect, said
from tests.core.models.recorder import GO, answer, entries, in_turn, record, write

CODE = '{"language": "python", "code": "print(6 * 7)"}'


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "calls.jsonl"


def permissions(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


async def test_a_recorded_reply_is_replayed_in_the_same_chunks(path: Path) -> None:
    calls = (
        ToolCall("a", "execute", CODE, extras={"x": 1}),
        ToolCall("b", "execute", "{}", raw='{"code": "1'),
    )
    script: list[Chunk] = [
        ReasoningChunk("hm, "),
        ReasoningChunk("so"),
        TextChunk("Loo"),
        TextChunk("k"),
        CallDelta(0, "execute", CODE[:10]),
        CallDelta(1, "execute", ""),
        CallDelta(0, "", CODE[10:]),
        CallDelta(1, "", '{"code": "1'),
        TextChunk("!"),
        Usage(10, 5, 2, 0.25),
        Replied(Assistant("Look!", calls, "hm, so", {"thinking_blocks": [{"a": 1}]}), "tool_calls"),
    ]
    await record(path, GO, inner=FakeModel(script))
    assert await collect(ReplayModel(path), GO) == script


async def test_a_whole_conversation_replays_without_a_model(path: Path) -> None:
    tools = [schema(["python"])]
    second: list[Message] = [*GO, Assistant("", (ToolCall("id-1", "execute", CODE),)), Result("id-1", "42")]
    recording = RecordingModel(FakeModel(called("id-1", CODE), said("It is 42.")), path)
    live = [await collect(recording, GO, tools), await collect(recording, second, tools)]
    replay = ReplayModel(path)
    assert [await collect(replay, GO, tools), await collect(replay, second, tools)] == live
    assert replay.answered_by == [1, 2]


async def test_a_server_that_uses_an_id_again_replays(path: Path) -> None:
    def after(*ids: str) -> list[Message]:
        asked = [(Assistant("", (ToolCall(one, "execute", CODE),)), Result(one, "42")) for one in ids]
        return [*GO, *(message for pair in asked for message in pair)]

    await record(path, after("call_0", "call_0"), inner=FakeModel(said("It is 42.")))
    # A replay gives the second call an id of its own.
    assert await answer(ReplayModel(path), after("call_0", "call00002")) == "It is 42."


async def test_a_model_that_cannot_call_tools_replays_its_calls_too(path: Path) -> None:
    tools = [schema(["python"])]
    provider = FakeModel([ToolsRejected("No tools here.")], said("```python\n1\n```"))
    refused, *live = await collect(RecordingModel(TextFallback(provider, ["python"]), path), GO, tools)
    assert isinstance(refused, Retrying)
    assert await collect(ReplayModel(path), GO, tools) == live


async def test_the_file_is_for_its_owner_alone(path: Path) -> None:
    await record(path, GO, inner=FakeModel(said("Hi")))
    assert permissions(path) == 0o600


async def test_an_entry_reads_well(path: Path) -> None:
    await record(
        path, [System("S"), User("go")], inner=FakeModel([*said("Hi", [1])[:2], Usage(1, 2), said("Hi")[-1]])
    )
    assert entries(path) == [
        {
            "request": {
                "model": "fake/model",
                "messages": [{"role": "system", "text": "S"}, {"role": "user", "text": "go"}],
                "tools": [],
                "sampling": {},
            },
            "reply": [{"text_pieces": ["H", "i"]}],
            "usage": {"input_tokens": 1, "output_tokens": 2, "cached_tokens": 0, "cost_usd": None},
            "finish": "stop",
        }
    ]


async def test_a_line_cut_off_by_a_crash_does_not_swallow_the_next(path: Path) -> None:
    write(path, "# torn")
    await record(path, GO, inner=FakeModel(said("Hi")))
    assert await answer(ReplayModel(path)) == "Hi"


async def test_what_fails_is_not_recorded(path: Path) -> None:
    model = RecordingModel(FakeModel([TextChunk("Hel"), Unavailable("gone")]), path)
    with pytest.raises(Unavailable):
        await collect(model, GO)
    assert entries(path) == []


async def test_that_a_request_was_too_long_is_recorded_and_found_again(path: Path) -> None:
    with pytest.raises(ContextFull, match="no room"):
        await collect(RecordingModel(FakeModel([ContextFull("no room")]), path), GO)
    assert [entry.keys() for entry in entries(path)] == [{"request", "too_long"}]
    with pytest.raises(ContextFull, match=r"too long for the model \(line 1\)"):
        await collect(ReplayModel(path), GO)


async def test_what_is_broken_off_is_not_recorded(path: Path) -> None:
    stream = RecordingModel(FakeModel(said("Hello")), path).stream(GO)
    await anext(stream)
    await stream.aclose()
    assert entries(path) == []


async def test_what_a_retry_made_void_is_not_recorded(path: Path) -> None:
    await record(path, GO, inner=FakeModel([TextChunk("x"), Retrying(1, "busy", 1.0), *said("Hi")]))
    assert await collect(ReplayModel(path), GO) == said("Hi")


async def test_a_recording_that_cannot_be_written_costs_no_request(tmp_path: Path) -> None:
    inner = FakeModel(said("Hi"))
    with pytest.raises(SettingsError, match="missing/x: cannot be written: No such file or directory"):
        await collect(RecordingModel(inner, tmp_path / "missing" / "x"), GO)
    assert inner.asked == []


async def test_name_and_closing_are_those_of_the_model_behind(path: Path) -> None:
    inner = FakeModel(said("Hi"))
    for model in (RecordingModel(inner, path), ReplayModel(write(path), inner=inner)):
        inner.closed = False
        await model.aclose()
        assert (model.name, inner.closed) == ("fake/model", True)


async def test_the_same_request_gets_its_replies_in_turn_and_no_more(path: Path) -> None:
    await record(path, GO, GO, inner=FakeModel(said("one"), said("two")))
    model = ReplayModel(path)
    assert [await answer(model), await answer(model)] == ["one", "two"]
    with pytest.raises(RecordingMiss, match="request 3: it was recorded 2 times and is asked again"):
        await answer(model)


async def test_a_strict_miss_shows_the_first_difference_to_the_nearest_entry(path: Path) -> None:
    far: list[Message] = [User("other")]
    near: list[Message] = [System("S"), User("Add up\nthese numbers\nplease.")]
    await record(path, far, near, inner=FakeModel(said("Hi")))
    with pytest.raises(RecordingMiss) as miss:
        await answer(ReplayModel(path), [System("S"), User("Add up\nthose numbers\nplease.")])
    assert miss.value.message == (
        f"{path} has no reply for request 1. The nearest is line 2; first difference:\n"
        "--- recorded: message 2 (user)\n"
        "+++ asked: message 2 (user)\n"
        "@@ -1,4 +1,4 @@\n"
        " role: user\n"
        " text: Add up\n"
        "-  these numbers\n"
        "+  those numbers\n"
        "   please."
    )
    assert "--replay-mode new" in miss.value.remedy


async def test_a_miss_of_a_longer_conversation_names_the_message_that_is_new(path: Path) -> None:
    await record(path, GO, inner=FakeModel(said("Hi")))
    with pytest.raises(RecordingMiss) as miss:
        await answer(ReplayModel(path), [*GO, Assistant("Hi"), User("more")])
    assert "--- recorded: nothing\n+++ asked: message 2 (assistant)" in miss.value.message


async def test_another_model_or_sampling_is_another_request(path: Path) -> None:
    await record(path, GO, inner=FakeModel(said("Hi")), sampling={"temperature": 0.5})
    with pytest.raises(RecordingMiss, match="recorded: sampling"):
        await answer(ReplayModel(path))
    with pytest.raises(RecordingMiss, match="recorded: model"):
        await answer(ReplayModel(path, name="other", sampling={"temperature": 0.5}))


async def test_a_field_taken_out_of_a_request_matches_anything(path: Path) -> None:
    await record(path, GO, inner=FakeModel(said("Hi")))
    (entry,) = entries(path)
    write(path, {**entry, "request": {"messages": entry["request"]["messages"]}})
    model = ReplayModel(path, name="other")
    assert await answer(model) == "Hi"
    with pytest.raises(RecordingMiss, match="--- recorded: message 1"):
        await answer(model, [User("no")])


async def test_a_file_without_requests_says_so(path: Path) -> None:
    with pytest.raises(RecordingMiss, match="request 1: no entry in it has a request"):
        await answer(ReplayModel(write(path, *in_turn("a"))))


async def test_new_asks_the_model_once_and_records_the_answer(path: Path) -> None:
    inner = FakeModel(said("new"))
    await record(path, GO, inner=FakeModel(said("old")))
    model = ReplayModel(path, "new", inner)
    more: list[Message] = [User("more")]
    assert [await answer(model), await answer(model, more)] == ["old", "new"]
    assert [messages for messages, _ in inner.asked] == [more]
    assert model.answered_by == [1, 0]
    again = ReplayModel(path)
    assert [await answer(again, more), await answer(again)] == ["new", "old"]


async def test_new_begins_with_no_file(path: Path) -> None:
    assert await answer(ReplayModel(path, "new", FakeModel(said("new")))) == "new"
    assert len(entries(path)) == 1


async def test_sequence_answers_by_turn_whatever_is_asked(path: Path) -> None:
    model = ReplayModel(write(path, *in_turn("a", "b")), "sequence")
    assert [await answer(model), await answer(model)] == ["a", "b"]
    with pytest.raises(RecordingMiss, match="has 2 replies; this is request 3"):
        await answer(model)


async def test_skipped_and_pinned_entries_are_switches_by_hand(path: Path) -> None:
    a, b, c = in_turn("a", "b", "c")
    model = ReplayModel(write(path, {**a, "skip": True}, {**b, "pin": True}, c), "sequence")
    assert [await answer(model), await answer(model)] == ["b", "b"]


async def test_a_pinned_entry_answers_its_request_every_time(path: Path) -> None:
    await record(path, GO, GO, inner=FakeModel(said("a"), said("b")))
    first, second = entries(path)
    model = ReplayModel(write(path, first, {**second, "pin": True}))
    assert [await answer(model), await answer(model), await answer(model)] == ["b", "b", "b"]


async def test_an_edit_by_hand_changes_the_answer(path: Path) -> None:
    await record(path, GO, inner=FakeModel(said("It is 42.", [0])))
    write(path, *[json.dumps(entry).replace("42", "43") for entry in entries(path)])
    assert await answer(ReplayModel(path)) == "It is 43."


async def test_a_hand_written_entry_is_short_and_replays_in_small_pieces(path: Path) -> None:
    write(
        path,
        "# the tour",
        "",
        "  // one",
        {
            "reply": [
                {"text": "Let me see."},
                {"call": {"arguments": {"language": "python", "code": ["a = 1", "print(a)"]}}},
            ],
            "usage": {"output_tokens": 3},
        },
    )
    arguments = '{"language": "python", "code": "a = 1\\nprint(a)"}'
    chunks = await collect(ReplayModel(path, "sequence"), GO)
    assert chunks[:3] == [TextChunk("Let me"), TextChunk(" see."), CallDelta(0, "execute", arguments[:6])]
    message = Assistant("Let me see.", (ToolCall("call00001", "execute", arguments),))
    assert chunks[-2:] == [Usage(0, 3), Replied(message)]


async def test_an_id_that_the_conversation_has_is_not_used_again(path: Path) -> None:
    entry = {"reply": [{"call": {"id": "x", "arguments": {"code": "1"}}}]}
    before = Assistant("", (ToolCall("x", "execute", "{}"),))
    *_, replied = await collect(ReplayModel(write(path, entry), "sequence"), [before])
    assert isinstance(replied, Replied)
    assert replied.message.calls[0].id == "call00002"


async def test_a_pace_is_kept_between_chunks(path: Path) -> None:
    seen: list[Chunk | str] = []

    async def pace() -> None:
        seen.append("wait")

    stream = ReplayModel(write(path, *in_turn("abcdefgh")), "sequence", pace=pace).stream(GO)
    while (chunk := await anext(stream, None)) is not None:
        seen.append(chunk)
    assert seen == [TextChunk("abcdef"), "wait", TextChunk("gh"), "wait", Replied(Assistant("abcdefgh"))]


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ("{", "is not JSON: Expecting property name enclosed in double quotes at column 2."),
        ("[]", "must be a JSON object with `request` and `reply`."),
        ('{"reply": []} {}', "is not JSON: Extra data at column 15."),
        ('{"request": 1, "reply": []}', "`request` must be an object or null."),
        ('{"request": null}', "`reply` must be a list."),
        (
            '{"replay": []}',
            "unknown field `replay`; an entry has extras, finish, pin, reply, request, skip, too_long, "
            "usage.",
        ),
        (
            '{"reply": [{"text": "a"}, {"txt": "b"}]}',
            'item 2 of `reply`: must be an object with `text`, `reasoning` or `call`, not {"txt": "b"}',
        ),
        ('{"reply": [{"text": 1}]}', "item 1 of `reply`: `text` must be a string or a list of lines"),
        ('{"reply": [{"call": {"cod": "1"}}]}', "item 1 of `reply`: `call` has no `cod`"),
        (
            '{"reply": [{"call": {"position": 3}}]}',
            "item 1 of `reply`: `position` is not that of an earlier call",
        ),
        (
            '{"reply": [], "usage": {"in": 1}}',
            "`usage` has input_tokens, output_tokens, cached_tokens and cost_usd",
        ),
    ],
)
def test_a_broken_line_is_named_with_what_is_wrong(path: Path, line: str, problem: str) -> None:
    with pytest.raises(SettingsError) as error:
        ReplayModel(write(path, "# title", line))
    assert error.value.problems == (f"{path}:2: {problem}",)


def test_a_missing_file_is_named(path: Path) -> None:
    with pytest.raises(SettingsError, match=r"calls\.jsonl: cannot be read as a recording"):
        ReplayModel(path)
