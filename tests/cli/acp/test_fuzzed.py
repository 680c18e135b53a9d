"""Any client in front of `terp acp`: each message of the agent fits the schema."""

import asyncio
import json
import os
import random
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.cli.acp.protocol import Message, RawClient
from tests.cli.acp.test_turns import PIXEL, SHOW
from tests.cli.running import Terp
from tests.loopback import Call, Http, Loopback, Scripted

pytestmark = pytest.mark.anyio
LONG_S = float(os.environ.get("ACP_FUZZ_S", "900"))
WORDS = (
    "/skills", "/plan", "/plan it", "/plan off", "/go", "/mine x",
    "plot it", "", "/vars", "/cost", "/undo", "/rewind 1", "/rewind", "/tokens", "/info",
    "/nothing", "/out", "/settings", "/diff", "/rules", "/help", "/restart", "/etc/hosts",
    "\u202e\u0000x", "🙂", "x" * 70_000,
)  # fmt: skip
CODES = (
    "1 + 1", SHOW, "1 / 0", "print('\\x1b[31mred\\x1b[0m' + '🙂' * 10)", "print('line\\n' * 30_000)",
    "open('a.txt', 'a').write('more\\n')", "edit_file('a.txt', 'one', 'two')", "open('new', 'w').write('x')",
    "import os; os.remove('b.txt')",
    "print(input('Name? '))", "import time; time.sleep(0.3)", "print(chr(0xd83d))", "def f(:", "!ls",
    "from IPython.display import HTML, Markdown, display; display(HTML('<b>x</b>'), Markdown('# y'))",
    "from IPython.display import display; h = display('a', display_id=True); h.update('b')", "",
    "import sys; [print(n, file=sys.stderr) for n in range(50)]", "import os; os._exit(3)",
    "from IPython.display import clear_output; print(1); clear_output(); print(2)",
)  # fmt: skip


def scripted(dice: random.Random) -> Scripted:
    """A reply of the model: text, code, both, or a failure."""
    replies: list[Callable[[], Scripted]] = [
        lambda: "1. Read it.\n2. Draw it.\n" + "Done. " * dice.randrange(1, 30),
        lambda: Call(dice.choice(["python", "python", "shell", "cobol"]), dice.choice(CODES)),
        lambda: ["First this.", *(Call(code=dice.choice(CODES)) for _ in range(dice.randrange(1, 4)))],
        lambda: Call(arguments=dice.choice(["{", "[]", '{"code": 3}', "print(1)"])),
        lambda: Http(dice.choice([400, 401, 500]), headers={"Retry-After": "0"}),
    ]
    return dice.choice(replies)()


class Fuzz:
    """A client that does anything, by dice. `sessions` are those that it knows."""

    def __init__(self, terp: Terp, dice: random.Random) -> None:
        self.cwd = terp.cwd
        self.dice = dice
        self.sessions: list[str] = []
        self.client = RawClient(self.answer)

    def answer(self, message: Message) -> Message:
        """An answer to a request of the agent: mostly a good one."""
        good: dict[str, Any] = {"fs/write_text_file": {}, "fs/read_text_file": {"content": "one\n"}}
        match message["method"]:
            case "session/request_permission":
                options = [one["optionId"] for one in message["params"]["options"]]
                chosen = self.dice.choice([*options, options[0], "forged", ""])
                outcome = {"outcome": "selected", "optionId": chosen} if chosen else {"outcome": "cancelled"}
                meta = self.dice.choice(
                    [None, {"terp": {"reason": "no"}}, {"terp": {"code": "2"}}, {"terp": 3}]
                )
                good = {"outcome": outcome, "_meta": meta}
            case "elicitation/create":
                good = self.dice.choice(
                    [{"action": "cancel"}, {"action": "accept", "content": {"line": "x"}}]
                )
            case method:
                good = good[method]
        if self.dice.random() < 0.9:
            return {"result": good}
        return self.dice.choice([{"error": {"code": -1, "message": "no"}}, {"result": 3}, {"result": {}}])

    def steps(self) -> Iterator[tuple[str, Any]]:
        """Requests, one after the other."""
        dice = self.dice

        def known() -> str:
            return dice.choice([*self.sessions] * 12 + ["none", "../.."])

        place = {"cwd": str(self.cwd), "mcpServers": []}
        while True:
            session = known()
            block = dice.choice([
                {"type": "text", "text": dice.choice(WORDS)}, *[{"type": "text", "text": "go"}] * 6,
                {"type": "image", "mimeType": "image/png", "data": dice.choice([PIXEL, "%"])},
                {"type": "resource_link", "name": "a", "uri": dice.choice([f"file://{self.cwd}/a.txt", "x://y"])},
                {"type": "resource", "resource": {"uri": "file:///none", "text": "x"}}, {"type": "audio"},
            ])  # fmt: skip
            yield dice.choice([
                *[("session/prompt", {"sessionId": session, "prompt": [block]})] * 25,
                ("session/set_mode",
                 {"sessionId": session, "modeId": dice.choice(["ask", "effect", "unasked", 3])}),
                ("session/set_config_option",
                 {"sessionId": session, "configId": dice.choice(["mode", "model", "x"]), "value": "ask"}),
                ("session/list", dice.choice([{}, {"cwd": str(self.cwd)}, {"cursor": "7"}, {"cwd": 3}])),
                ("session/new", dice.choice([place, place, {**place, "cwd": "/none"}, {}, None, [1]])),
                ("session/load", {**place, "sessionId": session}), ("authenticate", {"methodId": "key"}),
                ("session/resume", {**place, "sessionId": session}),
                ("session/close", {"sessionId": session}),
                ("session/fly", {}), ("initialize", {"protocolVersion": -1}),
            ])  # fmt: skip

    async def run(self, seconds: float, most: int) -> None:
        """Do something `most` times, or for some seconds."""
        client, until = self.client, time.monotonic() + seconds
        for method, params in self.steps():
            if client.count >= most or time.monotonic() > until:
                break
            waiting = asyncio.create_task(client.reply(client.request(method, params)))
            if self.dice.random() < 0.2:
                client.line(
                    self.dice.choice([b"{", b"[1]", b'{"id": [], "result": 1}', b"\xff", b"", b"null"])
                )
            while not waiting.done():
                # A turn that takes its time is cancelled.
                await asyncio.wait({waiting}, timeout=self.dice.choice([0.2, 2.0, 5.0]))
                if not waiting.done():
                    client.send(
                        {"method": "session/cancel", "params": {"sessionId": self.dice.choice(self.sessions)}}
                    )
            reply = waiting.result()
            if method == "session/close" and "result" in reply:
                again = {"sessionId": params["sessionId"], "cwd": str(self.cwd), "mcpServers": []}
                await client.asked("session/resume", again)
            if method == "session/new" and "result" in reply:
                self.sessions = [*self.sessions[-2:], reply["result"]["sessionId"]]


async def fuzzed(terp: Terp, seed: int, seconds: float, most: int) -> RawClient:
    """Run a client by this seed; return it once the agent has ended."""
    dice = random.Random(seed)
    for name in ("a.txt", "b.txt"):
        Path(terp.cwd, name).write_text("one\n")
    (terp.home / "commands").mkdir()
    (terp.home / "commands" / "mine.md").write_text("Do $1, after !`echo it`.")
    with Loopback([scripted(dice) for _ in range(20 * most)]) as server:
        fuzz = Fuzz(terp, dice)
        client = fuzz.client
        await client.start(terp, server, "--max-steps", "4")
        able = {"fs": {"readTextFile": True, "writeTextFile": True}, "elicitation": {"form": {}}}
        await client.asked("initialize", {"protocolVersion": 1, "clientCapabilities": able})
        new = await client.asked("session/new", {"cwd": str(terp.cwd), "mcpServers": []})
        fuzz.sessions.append(new["result"]["sessionId"])
        await fuzz.run(seconds, most)
        assert await client.stop() == 0
    assert sorted(one for one in client.replies if one is not None) == list(range(1, client.count + 1))
    return client


@pytest.mark.parametrize("seed", [1, 2])
async def test_each_message_of_a_fuzzed_run_fits_the_schema(terp: Terp, seed: int) -> None:
    client = await fuzzed(terp, seed, 60, 30)
    assert client.wrong == []


@pytest.mark.faults
async def test_each_message_of_a_long_fuzzed_run_fits_the_schema(terp: Terp) -> None:
    client = await fuzzed(terp, int(time.time()), LONG_S, 1_000_000 if LONG_S > 900 else 20_000)
    assert client.wrong == []


async def test_an_answer_that_is_none_ends_the_turn_and_runs_nothing(terp: Terp) -> None:
    client = RawClient(lambda _: {"result": {"outcome": 3}})
    with Loopback([Call(code="open('made', 'w')"), "done"]) as server:
        await client.start(terp, server)
        new = await client.asked("session/new", {"cwd": str(terp.cwd), "mcpServers": []})
        prompt = [{"type": "text", "text": "go"}]
        reply = await client.asked(
            "session/prompt", {"sessionId": new["result"]["sessionId"], "prompt": prompt}
        )
        assert await client.stop() == 0
    assert reply["error"]["message"].startswith("The editor cannot ask: ")
    assert not (terp.cwd / "made").exists()


async def test_a_line_that_is_no_message_is_answered_with_a_remedy(terp: Terp) -> None:
    client = RawClient(lambda _: {})
    with Loopback([]) as server:
        await client.start(terp, server)
        for line in (b"{", b"[]", b'{"id": [], "result": 1}', b"\xff", b'{"x": NaN}'):
            client.line(line)
        reply = await client.asked("session/new", {"cwd": "here", "mcpServers": []})
        await client.asked("session/new", {"mcpServers": 1})
        assert await client.stop() == 0
    assert client.refused == 5
    assert client.replies[None]["error"] == {
        "code": -32600,
        "message": "Invalid request",
        "data": {"remedy": "Send one JSON object of JSON-RPC 2.0 a line."},
    }
    assert reply["error"] == {
        "code": -32602,
        "message": "cwd must be the absolute path of a directory, and 'here' is none.",
        "data": {"reason": "usage", "remedy": ""},
    }
    assert client.replies[2]["error"]["message"].startswith(
        "Invalid params: cwd: Field required; mcpServers: "
    )
    assert client.wrong == []


async def test_prints_of_terp_and_its_programs_do_not_reach_stdout(terp: Terp) -> None:
    (terp.home / "tools.py").write_text("print('tools')\n")
    client = RawClient(lambda message: {"result": {"outcome": chosen(message)}})
    with Loopback([Call("shell", "echo shell >/proc/self/fd/2"), "done"]) as server:
        await client.start(terp, server)
        new = await client.asked("session/new", {"cwd": str(terp.cwd), "mcpServers": []})
        prompt = [{"type": "text", "text": "go"}]
        await client.asked("session/prompt", {"sessionId": new["result"]["sessionId"], "prompt": prompt})
        assert await client.stop() == 0
    assert client.wrong == []


def chosen(message: Message) -> Message:
    """The first option of a question."""
    return {"outcome": "selected", "optionId": message["params"]["options"][0]["optionId"]}


def test_without_an_editor_the_program_says_who_starts_it(terp: Terp) -> None:
    ended = terp("acp")
    assert (ended.code, ended.notes) == (
        2,
        "terp: terp acp is started by an editor: see terp docs editors.\n",
    )


def test_the_schema_is_that_of_the_first_version_of_the_protocol() -> None:
    schema = json.loads(Path(__file__).with_name("schema.json").read_text())
    assert schema["$comment"].startswith("schema/v1/schema.json")
