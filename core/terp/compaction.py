"""A conversation made shorter when it no longer fits the model's window.

First the oldest outputs are cut, then old turns are summarised by the model. The system prompt, the
first turn and the last one stay, and so do all words of the person.
"""

import dataclasses
from collections.abc import Awaitable, Callable, Sequence

from terp.errors import ContextFull
from terp.headtail import HeadTail
from terp.messages import Assistant, Message, Result, System, User

_KEPT_OF_RESULT = 400
# A result that was cut once, and says so, is not cut again.
_LONG_RESULT = 2 * _KEPT_OF_RESULT
_RECENT_RESULTS = 2
_ENOUGH = 0.6
_REQUEST = (
    "Write down what must not be forgotten of the conversation above, for yourself, so that you can go on "
    "without it: what the person wants, decisions, facts found, files and variables with their meaning, and "
    "what is still open. Use short sentences and no code."
)


async def compacted(
    messages: Sequence[Message], ask: Callable[[Sequence[Message]], Awaitable[str]]
) -> tuple[list[Message], str]:
    """A shorter history, and how it was made, in words. `ask` gives the model's answer to a history.

    Raises:
        ContextFull: nothing is left that could be shortened.
        ModelError: the model that was to write the summary failed.
    """
    shorter = _with_short_results(messages)
    if size(shorter) <= _ENOUGH * size(messages):
        return shorter, "the oldest outputs were shortened"
    turns = _turns(shorter)
    if len(turns) > 2:
        first, *middle, last = turns
        summary = await _summary([message for turn in middle for message in turn], ask)
        return [*first, User(summary), *last], "outputs were shortened and old turns summarised"
    if shorter != list(messages):
        return shorter, "the oldest outputs were shortened"
    raise ContextFull(
        "The conversation is longer than the model can read, and nothing is left to shorten.",
        "Start a new session, or pick a model with a larger context window with --model.",
    )


async def summarised(
    messages: Sequence[Message], ask: Callable[[Sequence[Message]], Awaitable[str]], focus: str = ""
) -> list[Message]:
    """A history in which all turns before the last are one summary, which keeps most of what `focus` names.

    Raises:
        ContextFull: there are no turns before the last.
        ModelError: the model that was to write the summary failed.
    """
    *older, last = _turns(messages) or [[]]
    if not older:
        raise ContextFull("There is nothing to shorten: the last turn is always kept whole.")
    summary = await _summary([message for turn in older for message in turn], ask, focus)
    return [User(summary), *last]


def size(messages: Sequence[Message]) -> int:
    """The length of a history in characters, as far as its text goes."""
    return sum(_length(message) for message in messages)


def _length(message: Message) -> int:
    match message:
        case Assistant(text=text, calls=calls):
            return len(text) + sum(len(call.arguments) for call in calls)
        case System(text=text) | User(text=text) | Result(text=text):
            return len(text)


def _with_short_results(messages: Sequence[Message]) -> list[Message]:
    results = [at for at, message in enumerate(messages) if isinstance(message, Result)]
    old = set(results[:-_RECENT_RESULTS])
    return [_short(message) if at in old else message for at, message in enumerate(messages)]


def _short(message: Message) -> Message:
    if not isinstance(message, Result):
        return message
    text = message.text
    if len(text) > _LONG_RESULT:
        cut = HeadTail(_KEPT_OF_RESULT)
        cut.add(text)
        text = cut.text()
    return dataclasses.replace(message, text=text, images=())


def _turns(messages: Sequence[Message]) -> list[list[Message]]:
    turns: list[list[Message]] = []
    for message in messages:
        if isinstance(message, User) or not turns:
            turns.append([])
        turns[-1].append(message)
    return turns


async def _summary(
    messages: Sequence[Message], ask: Callable[[Sequence[Message]], Awaitable[str]], focus: str = ""
) -> str:
    said = "\n".join(f"- {message.text}" for message in messages if isinstance(message, User))
    try:
        written = await ask([*messages, User(f"{_REQUEST} Above all keep: {focus}" if focus else _REQUEST)])
    except ContextFull:
        # Even the part to be summarised is too long: the person's own words are what is kept.
        written = ""
    return f"[Earlier turns, shortened. The person said:\n{said}\n{written}".rstrip("\n") + "]"
