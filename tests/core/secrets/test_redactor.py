"""What a recording must not hold, and what does not count when requests are compared."""

import base64
import json
import time
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from terp.events.messages import Assistant, Image, Message, Result, ToolCall, User
from terp.events.model import CallDelta, Chunk, ReasoningChunk, Replied, TextChunk
from terp.models.recording.file import BadReply, Recording, reply_as_json, reply_from_json
from terp.models.recording.models import ReplayModel
from terp.models.recording.recorded_request import request_as_json
from terp.secrets.redactor import Redactor, secrets_in
from tests.core.models.fakes import FakeModel, cut, patient
from tests.core.models.recorder import answer, entries, in_turn, record, write


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "calls.jsonl"


SECRETS = [
    "sk-proj-abcdefghijklmnopqrstuvwx",
    "ghp_abcdefghijklmnopqrstuvwxyz0123456789",
    "AKIAABCDEFGHIJKLMNOP",
    "xoxb-1234567890-abcdef",
    "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.c2lnbmF0dXJl",
    "Bearer abcdefgh12345678",
    "xai-abcdefghijklmnopqrst1234",
    "-----BEGIN RSA PRIVATE KEY-----\nMIIE\n-----END RSA PRIVATE KEY-----",
    "glpat-abcdefghijklmnopqrst",
    "npm_abcdefghijklmnopqrstuvwxyz0123456789",
    "sk_live_abcdefghijklmnop1234",
    "hooks.slack.com/services/T000/B000/abcdefgh",
    "aws_secret_access_key=abcdefghijklmnopqrst/vwxyzABCDEFGHIJKLMN",
    'pass"word\nvalue',
]
KEYS = secrets_in({"MY_API_KEY": SECRETS[-1], "HOME": "/home/someone", "X_TOKEN": "short"})


@pytest.mark.parametrize(
    "name",
    [
        "OPENAI_API_KEY",
        "AWS_SECRET_ACCESS_KEY",
        "GH_TOKEN",
        "KEY",
        "PGPASSWORD",
        "DB_PASSWORD",
        "MY_CREDENTIAL",
        "MYCREDENTIALS",
        "AZURE_STORAGE_CONNECTION_STRING",
        "SENTRY_DSN",
    ],
)
def test_a_variable_is_secret_by_its_name(name: str) -> None:
    assert secrets_in({name: "12345678", "PATH": "/usr/bin:/bin", "KEYBOARD": "qwertz-de"}) == ("12345678",)


@pytest.mark.parametrize(
    "address",
    [
        "DefaultEndpointsProtocol=https;AccountName=me;AccountKey=a-key-of-mine/7+==;EndpointSuffix=net",
        "Endpoint=sb://b/;SharedAccessKeyName=root;SharedAccessKey=a-key-of-mine/7+==",
        "Server=db;User Id=me;Password=a-key-of-mine/7+==;",
        "server=db; uid=me; pwd = a-key-of-mine/7+==",
        "BlobEndpoint=https://b/;SharedAccessSignature=a-key-of-mine/7+==",
    ],
)
def test_the_key_in_a_connection_string_is_a_secret_of_its_own(address: str) -> None:
    assert "a-key-of-mine/7+==" in secrets_in({"STORAGE_CONNECTION_STRING": address})


def test_the_user_of_an_address_that_is_a_secret_is_one() -> None:
    dsn = "https://9f8e7d6c5b4a39281706f5e4d3c2b1a0@o1.ingest.sentry.io/42"
    other = "postgres://postgres@host/db"
    assert secrets_in({"SENTRY_DSN": dsn, "DB_DSN": other}) == (
        dsn,
        "9f8e7d6c5b4a39281706f5e4d3c2b1a0",
        other,
    )


def test_a_variable_that_says_where_a_key_is_hides_no_path(tmp_path: Path) -> None:
    named = {"KEY_FILE": "/keys/mine", "SSH_AUTH_SOCK": "/run/agent.1", "MY_CREDENTIALS": str(tmp_path)}
    assert secrets_in(named) == ()


def test_a_key_that_is_none_hides_nothing_else() -> None:
    assert secrets_in({"MY_TOKEN": "none"}, "x", "a-real-key-of-mine") == ("a-real-key-of-mine",)


@pytest.mark.parametrize(
    ("text", "clean"),
    [
        ("postgres://me:p4ss@db/x", "postgres://me:[redacted]@db/x"),
        ("http://:p4ss@proxy:3128", "http://:[redacted]@proxy:3128"),
        ("f'https://{user}:{password}@host'", "f'https://{user}:{password}@host'"),
        ("https://host:8080/a@b", "https://host:8080/a@b"),
        (
            f"AccountName=a;AccountKey={'aB3/' * 21}aB==;Suffix=net",
            "AccountName=a;AccountKey=[redacted];Suffix=net",
        ),
        (
            f"Endpoint=sb://b/;SharedAccessKey={'aB3+' * 10}aB3=",
            "Endpoint=sb://b/;SharedAccessKey=[redacted]",
        ),
        ("AccountKey=aB3/aB3/aB3/aB3/aB3/;x", "AccountKey=[redacted];x"),
        ("AccountKey=key_of(account)", "AccountKey=key_of(account)"),
        ('{"SecretAccessKey": "abcdefghijklmnopqrst/vwxyzABCDEFGHIJKLMN"}', '{"[redacted]"}'),
    ],
)
def test_what_stands_in_an_address_or_after_a_name_is_told_from_the_rest(text: str, clean: str) -> None:
    assert Redactor().redacted(text) == clean


@pytest.mark.parametrize("before", ["", "a", "ab"])
@pytest.mark.parametrize("after", ["", "z"])
def test_a_value_is_found_in_base64_wherever_it_stands_there(before: str, after: str) -> None:
    secret = "a-value-of-mine?>"
    encoded = base64.b64encode(f"{before}{secret}{after}".encode()).decode()
    clean = Redactor((secret,)).redacted(encoded)
    assert "[redacted]" in clean
    assert len(clean) - len("[redacted]") <= 8


def test_a_value_is_found_in_an_address() -> None:
    assert Redactor(("p4ss/word@1",)).redacted("?key=p4ss%2Fword%401&x") == "?key=[redacted]&x"


def test_the_password_of_a_proxy_is_secret_as_it_is_and_as_it_is_written() -> None:
    environment = {"HTTPS_PROXY": "http://me:p4ss%2Fword1@proxy:3128", "PAGE": "http://host:8080/a@b"}
    assert secrets_in(environment) == ("p4ss%2Fword1", "p4ss/word1")


@pytest.mark.parametrize("secret", SECRETS)
async def test_no_secret_reaches_the_file(path: Path, secret: str) -> None:
    arguments = json.dumps({"code": f"k = '''\n{secret}'''"})
    call = ToolCall("a", "execute", arguments)
    replied = Replied(Assistant(f"is {secret} !", (call,), "", {"reasoning_content": secret}))
    pieces = [TextChunk(piece) for piece in ["is ", *secret, " !"]]
    written = [
        CallDelta(0, "execute" if number == 0 else "", piece) for number, piece in enumerate(arguments)
    ]
    asked: list[Message] = [User(secret), replied.message, Result("a", secret)]
    await record(path, asked, inner=FakeModel([*pieces, *written, replied]), redactor=Redactor(KEYS))
    for known in (secret, secret[-6:], json.dumps(secret)[1:-1]):
        assert known not in json.dumps(entries(path), ensure_ascii=False)
    assert await answer(ReplayModel(path, redactor=Redactor(KEYS)), asked) == "is [redacted] !"


def test_only_variables_named_as_secrets_hold_them() -> None:
    assert (SECRETS[-1],) == KEYS


def request(*messages: Message) -> dict[str, Any]:
    return request_as_json("m", messages, [], {}, Redactor(cwd="/proj/a", home="/home/u"))


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
    here = request(User("/proj/a/data.csv and /home/u/x"))
    redactor = Redactor(cwd="/home/v/project", home="/home/v")
    there = request_as_json("m", [User("/home/v/project/data.csv and /home/v/x")], [], {}, redactor)
    assert here == there
    assert request(User("/proj/ab")) != request(User("<cwd>b"))


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
    st.builds(TextChunk, st.text(min_size=1, max_size=9)),
    st.builds(ReasoningChunk, st.text(min_size=1, max_size=9)),
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
    entry = reply_as_json(chunks, Replied(Assistant("", calls)), Redactor())
    assert reply_from_json(json.loads(json.dumps(entry)))[:-1] == chunks


@patient
@given(st.text("sk-abc123ABC=.\n eyJghp_", max_size=60), st.lists(st.integers(1, 9), min_size=1, max_size=4))
def test_pieces_are_redacted_as_their_whole(text: str, sizes: list[int]) -> None:
    redactor = Redactor(("abc123AB", "ghp_ghp_"))
    pieces = cut(text + " sk-" + "a" * 20 + text, sizes)
    redacted = redactor.redacted_pieces(pieces)
    assert ("".join(redacted), len(redacted)) == (redactor.redacted("".join(pieces)), len(pieces))


@pytest.mark.parametrize("begun", ["sk-", "eyJ-", "ghp_", "xoxa-", "-----BEGIN PRIVATE KEY-----\n"])
def test_what_could_begin_a_secret_over_and_over_costs_no_more_than_other_text(begun: str) -> None:
    text = begun * (200_000 // len(begun))
    started = time.process_time()
    Redactor().redacted(text)
    # Begun anew at each of them it took 10 to 20 s.
    assert time.process_time() - started < 2.0


def test_a_reply_that_is_no_list_is_refused() -> None:
    with pytest.raises(BadReply):
        reply_from_json({"reply": "Hi"})


def test_entries_know_their_line(path: Path) -> None:
    assert [entry.line for entry in Recording(write(path, "#", *in_turn("a", "b"))).entries()] == [2, 3]
