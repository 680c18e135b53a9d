"""A client that speaks the protocol by itself, and holds every message of the agent to its schema.

`schema.json` is that of the npm package `@agentclientprotocol/sdk`, without descriptions.
"""

import asyncio
import json
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import jsonschema

from tests.cli.acp.editor import LIMIT
from tests.cli.running import Terp, to
from tests.loopback import Loopback

Message = dict[str, Any]
_SCHEMA = json.loads(Path(__file__).with_name("schema.json").read_text())


@cache
def validator(name: str) -> jsonschema.Draft202012Validator:
    """The validator of a definition, to which no unknown field is known."""
    schema = {"$ref": f"#/$defs/{name}", "unevaluatedProperties": False, "$defs": _SCHEMA["$defs"]}
    return jsonschema.Draft202012Validator(schema)


def named(method: str, kind: str) -> str:
    """The name of the definition of a method's request, response or notification."""
    definitions: dict[str, Any] = _SCHEMA["$defs"]
    return next(
        name for name, one in definitions.items() if one.get("x-method") == method and name.endswith(kind)
    )


class RawClient:
    """Sends any line, answers requests of the agent with `answer`, and checks all that the agent sends.

    `replies` has the one reply to each request; `wrong` lists what breaks the schema or the rules.
    """

    def __init__(self, answer: Callable[[Message], Message]) -> None:
        self.replies: dict[Any, Message] = {}
        self.wrong: list[str] = []
        self.count = 0
        self.refused = 0
        self._answer = answer
        self._methods: dict[Any, str] = {}
        self._came = asyncio.Condition()

    async def start(self, terp: Terp, server: Loopback, *flags: str) -> None:
        self.process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "terp_cli", "acp", *to(server), *flags),
            cwd=terp.cwd,
            env=terp.environ,
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=None if os.environ.get("ACP_LOG") else asyncio.subprocess.DEVNULL,
            limit=LIMIT,
        )
        self._reading = asyncio.create_task(self._read())

    async def stop(self) -> int:
        """Close stdin; return the exit code, once everything is read."""
        assert self.process.stdin is not None
        self.process.stdin.close()
        await asyncio.wait_for(self._reading, 60)
        return await self.process.wait()

    def line(self, data: bytes) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(data + b"\n")

    def send(self, message: Mapping[str, Any]) -> None:
        self.line(json.dumps({"jsonrpc": "2.0", **message}).encode())

    def request(self, method: str, params: Any) -> int:
        """Send a request; return its id."""
        self.count += 1
        self._methods[self.count] = method
        self.send({"id": self.count, "method": method, "params": params})
        return self.count

    async def reply(self, number: int) -> Message:
        """Return the reply to a request, once it is there."""
        async with self._came:
            await self._came.wait_for(lambda: number in self.replies or self._reading.done())
        return self.replies[number]

    async def asked(self, method: str, params: Any) -> Message:
        return await self.reply(self.request(method, params))

    async def _read(self) -> None:
        assert self.process.stdout is not None
        while line := await self.process.stdout.readline():
            try:
                message = json.loads(line)
            except ValueError:
                self.wrong.append(f"no JSON: {line[:200]!r}")
                continue
            self._take(message)
            async with self._came:
                self._came.notify_all()

    def _take(self, message: Message) -> None:
        if "method" in message:
            kind = "Request" if "id" in message else "Notification"
            self._check(named(message["method"], kind), message["params"])
            if "id" in message:
                self.send({"id": message["id"], **self._answer(message)})
            return
        if message.get("id") is None:
            self.refused += 1
        elif message["id"] in self.replies:
            self.wrong.append(f"a second reply to {message['id']}")
        self.replies[message.get("id")] = message
        if "error" in message:
            self._check("Error", message["error"])
        else:
            self._check(named(self._methods[message["id"]], "Response"), message["result"])

    def _check(self, name: str, value: Any) -> None:
        errors: Sequence[Any] = list(validator(name).iter_errors(value))
        self.wrong += [f"{name}: {'.'.join(map(str, one.path))}: {one.message[:300]}" for one in errors[:3]]
