"""Calls of a model are written down, and the file answers in its place."""

import json
import stat
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from terp.errors import RecordingMiss, SettingsError, ToolsRejected, Unavailable
from terp.messages import Assistant, Image, Message, Result, System, ToolCall, User
from terp.models.fences import with_text_fallback
from terp.models.protocol import CallDelta, Chunk, Model, Reasoning, Replied, Retrying, Text, Usage
from terp.models.recorded_reply import BadReply, reply_as_json, reply_from_json
from terp.models.recorded_request import request_as_json
from terp.models.recording import RecordingModel, ReplayModel
from terp.models.recording_file import Recording
from terp.models.scrubbing import Scrubber, secrets_in
from terp.tool import schema
from tests.core.models.fakes import FakeModel, called, collect, cut, patient, said

GO = [User("go")]
CODE = '{"language": "python", "code": "print(6 * 7)"}'


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "calls.jsonl"


async def record(path: Path, *conversations: Sequence[Message], inner: Model, **options: Any) -> None:
    model = RecordingModel(inner, path, **options)
    for messages in conversations:
        await collect(model, messages)


def entries(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text().splitlines()]


def write(path: Path, *lines: dict[str, Any] | str) -> Path:
    path.write_text("\n".join(line if isinstance(line, str) else json.dumps(line) for line in lines))
    return path


def permissions(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def in_turn(*replies: str) -> list[dict[str, Any]]:
    return [{"request": None, "reply": [{"text": reply}]} for reply in replies]


async def answer(model: Model, messages: Sequence[Message] = GO) -> str:
    *_, replied = await collect(model, messages)
    assert isinstance(replied, Replied)
    return replied.message.text


async def test_a_recorded_reply_is_replayed_in_the_same_chunks(path: Path) -> None:
    calls = (
        ToolCall("a", "execute", CODE, extras={"x": 1}),
        ToolCall("b", "execute", "{}", raw='{"code": "1'),
    )
    script: list[Chunk] = [
        Reasoning("hm, "),
        Reasoning("so"),
        Text("Loo"),
        Text("k"),
        CallDelta(0, "execute", CODE[:10]),
        CallDelta(1, "execute", ""),
        CallDelta(0, "", CODE[10:]),
        CallDelta(1, "", '{"code": "1'),
        Text("!"),
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


async def test_a_model_that_cannot_call_tools_replays_its_calls_too(path: Path) -> None:
    tools = [schema(["python"])]
    provider = FakeModel([ToolsRejected("No tools here.")], said("```python\n1\n```"))
    refused, *live = await collect(RecordingModel(with_text_fallback(provider, ["python"]), path), GO, tools)
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
    model = RecordingModel(FakeModel([Text("Hel"), Unavailable("gone")]), path)
    with pytest.raises(Unavailable):
        await collect(model, GO)
    assert entries(path) == []


async def test_what_is_broken_off_is_not_recorded(path: Path) -> None:
    stream = RecordingModel(FakeModel(said("Hello")), path).stream(GO)
    await anext(stream)
    await stream.aclose()
    assert entries(path) == []


async def test_what_a_retry_made_void_is_not_recorded(path: Path) -> None:
    await record(path, GO, inner=FakeModel([Text("x"), Retrying(1, "busy", 1.0), *said("Hi")]))
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
    assert chunks[:3] == [Text("Let me"), Text(" see."), CallDelta(0, "execute", arguments[:6])]
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
    assert seen == [Text("abcdef"), "wait", Text("gh"), "wait", Replied(Assistant("abcdefgh"))]


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
            "unknown field `replay`; an entry has extras, finish, pin, reply, request, skip, usage.",
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


SECRETS = [
    "sk-proj-abcdefghijklmnopqrstuvwx",
    "ghp_abcdefghijklmnopqrstuvwxyz0123456789",
    "AKIAABCDEFGHIJKLMNOP",
    "xoxb-1234567890-abcdef",
    "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.c2lnbmF0dXJl",
    "Bearer abcdefgh12345678",
    "-----BEGIN RSA PRIVATE KEY-----\nMIIE\n-----END RSA PRIVATE KEY-----",
    'pass"word\nvalue',
]
KEYS = secrets_in({"MY_API_KEY": SECRETS[-1], "HOME": "/home/someone", "X_TOKEN": "short"})


@pytest.mark.parametrize("secret", SECRETS)
async def test_no_secret_reaches_the_file(path: Path, secret: str) -> None:
    arguments = json.dumps({"code": f"k = '''\n{secret}'''"})
    call = ToolCall("a", "execute", arguments)
    replied = Replied(Assistant(f"is {secret} !", (call,), "", {"reasoning_content": secret}))
    pieces = [Text(piece) for piece in ["is ", *secret, " !"]]
    written = [
        CallDelta(0, "execute" if number == 0 else "", piece) for number, piece in enumerate(arguments)
    ]
    asked: list[Message] = [User(secret), replied.message, Result("a", secret)]
    await record(path, asked, inner=FakeModel([*pieces, *written, replied]), scrubber=Scrubber(KEYS))
    for known in (secret, secret[-6:], json.dumps(secret)[1:-1]):
        assert known not in json.dumps(entries(path), ensure_ascii=False)
    assert await answer(ReplayModel(path, scrubber=Scrubber(KEYS)), asked) == "is [redacted] !"


def test_only_variables_named_as_secrets_hold_them() -> None:
    assert (SECRETS[-1],) == KEYS


def request(*messages: Message) -> dict[str, Any]:
    return request_as_json("m", messages, [], {}, Scrubber(cwd="/work/a", home="/home/u"))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("<object at 0x7f3a2c1d4e50>", "<object at 0x7f0000000010>"),
        ("saved /tmp/abc123/plot.png", "saved /tmp/xyz/plot.png"),
        ("1f0e4c6a-9d3b-4f52-8a77-0c1d2e3f4a5b", "00000000-0000-4000-8000-000000000000"),
        ("1763682000.123", "1763699999.5"),
        ("took 1.23 s", "took 45 ms"),
        ("on 2026-11-20T23:24:36Z", "on 2026-11-21 00:05:01"),
        ("Fri Nov 20 23:24:36", "Fri Nov 21 00:05:01"),
    ],
)
def test_what_differs_from_run_to_run_does_not_count_in_a_result(one: str, other: str) -> None:
    assert request(Result("a", one)) == request(Result("a", other))


def test_the_directories_of_the_machine_do_not_count() -> None:
    here = request(User("/work/a/data.csv and /home/u/x"))
    scrubber = Scrubber(cwd="/home/v/project", home="/home/v")
    there = request_as_json("m", [User("/home/v/project/data.csv and /home/v/x")], [], {}, scrubber)
    assert here == there
    assert request(User("/work/ab")) != request(User("<cwd>b"))


def test_the_ids_of_calls_do_not_count() -> None:
    assert request(Assistant("", (ToolCall("a", "execute", "{}"),)), Result("a", "1")) == request(
        Assistant("", (ToolCall("b", "execute", "{}"),)), Result("b", "1")
    )


@pytest.mark.parametrize(
    ("one", "other"), [("in 5 seconds", "in 6 seconds"), ("on 2024-01-01", "on 2024-01-02")]
)
def test_dates_and_times_count_in_what_the_user_wrote(one: str, other: str) -> None:
    assert request(User(one)) != request(User(other))


def test_the_pixels_count_in_a_picture_of_the_user_and_not_in_a_plot() -> None:
    one, other = (Image("image/png", "AA=="),), (Image("image/png", "BB=="),)
    assert request(User("x", one)) != request(User("x", other))
    assert request(Result("a", "x", one)) == request(Result("a", "x", other))


PIECE = st.one_of(
    st.builds(Text, st.text(min_size=1, max_size=9)),
    st.builds(Reasoning, st.text(min_size=1, max_size=9)),
    st.builds(lambda position, text: (position, text), st.integers(0, 2), st.text(max_size=9)),
)


@patient
@given(st.lists(PIECE, max_size=20))
def test_any_reply_comes_back_as_it_was(pieces: list[Any]) -> None:
    chunks: list[Chunk] = []
    numbers: dict[int, int] = {}
    for piece in pieces:
        if isinstance(piece, tuple):
            is_new = piece[0] not in numbers
            position = numbers.setdefault(piece[0], len(numbers))
            chunks.append(CallDelta(position, "execute" if is_new else "", piece[1]))
        else:
            chunks.append(piece)
    calls = tuple(ToolCall(f"id{number}", "execute", "{}") for number in numbers.values())
    entry = reply_as_json(chunks, Replied(Assistant("", calls)), Scrubber())
    assert reply_from_json(json.loads(json.dumps(entry)))[:-1] == chunks


@patient
@given(st.text("sk-abc123ABC=.\n eyJghp_", max_size=60), st.lists(st.integers(1, 9), min_size=1, max_size=4))
def test_pieces_are_redacted_as_their_whole(text: str, sizes: list[int]) -> None:
    scrubber = Scrubber(("abc123AB", "ghp_ghp_"))
    pieces = cut(text + " sk-" + "a" * 20 + text, sizes)
    redacted = scrubber.redacted_pieces(pieces)
    assert ("".join(redacted), len(redacted)) == (scrubber.redacted("".join(pieces)), len(pieces))


def test_a_reply_that_is_no_list_is_refused() -> None:
    with pytest.raises(BadReply):
        reply_from_json({"reply": "Hi"})


def test_entries_know_their_line(path: Path) -> None:
    assert [entry.line for entry in Recording(write(path, "#", *in_turn("a", "b"))).entries()] == [2, 3]
