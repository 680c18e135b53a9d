"""A server of the protocol of 2025, written out by hand: it asks the client back while a tool runs."""

import json
import sys
from typing import Any

TOOLS = [
    {"name": "ask", "description": "Asks the client.", "inputSchema": {"type": "object", "properties": {}}},
    {
        "name": "odd one",
        "description": "Has names that Python cannot write.",
        "inputSchema": {
            "type": "object",
            "properties": {"from": {"type": "string"}, "to-do": {"type": "string"}},
            "required": ["to-do"],
        },
    },
    {"name": "later", "description": "Changes the list.", "inputSchema": {"type": "object"}},
]
NEW = {"name": "new", "description": "Came later.", "inputSchema": {"type": "object"}}
QUESTIONS: dict[str, dict[str, Any]] = {
    "roots/list": {},
    "sampling/createMessage": {
        "messages": [{"role": "user", "content": {"type": "text", "text": "hi"}}],
        "maxTokens": 5,
    },
    "elicitation/create": {
        "message": "How old?",
        "requestedSchema": {"type": "object", "properties": {"age": {"type": "integer"}}},
    },
    "nothing/known": {},
}


def write(line: str) -> None:
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


def send(**message: Any) -> None:
    write(json.dumps({"jsonrpc": "2.0", **message}))


def answer_of(question: str, number: int) -> Any:
    """What the client answers."""
    send(id=number, method=question, params=QUESTIONS[question])
    reply = json.loads(sys.stdin.readline())
    return reply.get("result") or reply["error"]["message"]


def called(name: str, arguments: dict[str, Any]) -> dict[str, Any]:
    if name == "ask":
        told: Any = {question: answer_of(question, 900 + at) for at, question in enumerate(QUESTIONS)}
    elif name == "later":
        TOOLS.append(NEW)
        send(method="notifications/tools/list_changed")
        told = "changed"
    else:
        told = arguments
    return {"content": [{"type": "text", "text": json.dumps(told)}]}


def result_of(method: str, params: dict[str, Any]) -> dict[str, Any] | None:
    match method:
        case "initialize":
            return {
                "protocolVersion": "2025-06-18",
                "capabilities": {"tools": {"listChanged": True}},
                "serverInfo": {"name": "old", "version": "0.1"},
            }
        case "tools/list":
            return {"tools": TOOLS}
        case "tools/call":
            return called(params["name"], params.get("arguments") or {})
    return None


def main() -> None:
    write("this is no message")
    for line in sys.stdin:
        message = json.loads(line)
        if "id" not in message:
            continue
        result = result_of(message["method"], message.get("params") or {})
        if result is None:
            send(id=message["id"], error={"code": -32601, "message": "Method not found"})
        else:
            send(id=message["id"], result=result)


if __name__ == "__main__":
    main()
