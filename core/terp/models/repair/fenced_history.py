"""A conversation with tool calls, written for a model that knows none."""

import re
from collections.abc import Callable, Sequence

from terp.events.messages import Assistant, Message, Result, System, ToolCall, User
from terp.models.repair.arguments import ArgumentsDecoder
from terp.models.tool import Call, Misunderstood


def instruction(languages: Sequence[str]) -> str:
    """What the system prompt says about running code. Equal languages give equal text."""
    return (
        "You can run code on the user's machine. Write it as one fenced block, with the language after "
        "the opening fence, and then stop:\n\n"
        f"```{languages[0]}\n{_example(languages[0])}\n```\n\n"
        f"Languages that run: {', '.join(languages)}. The block is run when your message ends. The next "
        "message is its output; never write that output yourself. Variables and imports stay from one "
        "block to the next. Label code that is only to be read with `text`. When nothing is left to run, "
        "answer without such a block."
    )


def as_fenced_text(
    messages: Sequence[Message],
    languages: Sequence[str],
    read: Callable[[ToolCall], Call | Misunderstood],
    *,
    instruct: bool = True,
) -> list[Message]:
    """The messages without calls and results: code in fences, and its output as the user's words.

    Messages of the user that come to stand side by side become one, because the templates of many
    local models demand that the speakers take turns. `read` tells what a call asked to run; `instruct`
    adds the instruction.
    """
    written: list[Message] = []
    asked: dict[str, str] = {}
    if instruct and not any(isinstance(message, System) for message in messages):
        written.append(System(instruction(languages)))
    for message in messages:
        match message:
            case System(text=text):
                written.append(System(f"{text}\n\n{instruction(languages)}" if instruct else text))
            case User():
                _add_user(written, message)
            case Assistant():
                asked |= _labels(message.calls)
                if said := _with_code(message, languages, read):
                    written.append(Assistant(said, (), message.reasoning, message.extras))
            case Result(call_id=call_id, text=text, images=images):
                label = asked.get(call_id, "Output of the code:")
                _add_user(written, User(f"{label}\n{text}", images))
    return written


def _example(language: str) -> str:
    return {"python": "print(6 * 7)", "shell": "ls", "bash": "ls"}.get(language.casefold(), "1 + 1")


def _labels(calls: Sequence[ToolCall]) -> dict[str, str]:
    if len(calls) == 1:
        return {calls[0].id: "Output of the code:"}
    return {
        call.id: f"Output of block {number} of {len(calls)}:" for number, call in enumerate(calls, start=1)
    }


def _add_user(written: list[Message], message: User) -> None:
    if written and isinstance(last := written[-1], User):
        written[-1] = User(f"{last.text}\n\n{message.text}", last.images + message.images)
    else:
        written.append(message)


def _with_code(
    message: Assistant, languages: Sequence[str], read: Callable[[ToolCall], Call | Misunderstood]
) -> str:
    blocks = [_block(call, read(call), languages) for call in message.calls]
    return "\n\n".join(part for part in [message.text.rstrip("\n"), *blocks] if part)


def _block(call: ToolCall, meant: Call | Misunderstood, languages: Sequence[str]) -> str:
    if isinstance(meant, Call):
        language, code = meant.language, meant.code
    else:
        # A call that was cut off is written as far as it went; its result says what was wrong.
        shown = ArgumentsDecoder(call.name, languages).feed(call.raw or call.arguments)
        language, code = (shown.language, shown.text) if shown else ("", call.raw or call.arguments)
    longest = max((len(run) for run in re.findall(r"`{3,}", code)), default=2)
    fence = "`" * (longest + 1)
    return f"{fence}{language}\n{code}\n{fence}"
