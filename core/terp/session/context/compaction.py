"""A conversation made shorter: what is left of it, and what is only told.

First the oldest outputs are cut. Where that is not enough, one message tells what came before the last turn:
the person's own words, the model's summary, and what terp knows of files and variables. The system prompt is
no part of it, and stays.
"""

import dataclasses
from collections.abc import Awaitable, Callable, Sequence

from terp.errors import ContextFull
from terp.events.messages import Assistant, Message, Result, User
from terp.session.context.history import History, PastTurn
from terp.session.context.summary import Told, summary_of
from terp.session.context.tokens import message_tokens, picture_tokens
from terp.text.headtail import HeadTail

CUT, SUMMARY = "outputs cut", "summed up"

_KEPT_OF_RESULT = 400
# A result that was cut once, and says so, is not cut again.
_LONG_RESULT = 2 * _KEPT_OF_RESULT
_RECENT_RESULTS = 2
# What stays word for word, of the room that there is: the last turns, or the last steps of a long one.
_STAYS = 0.5
# What would free less than this of it is not worth a summary.
_WORTH = 0.2
# A first turn that is no longer stays whole: it mostly says what all of it is about.
_SHORT_TURN = 400

Write = Callable[[Sequence[Message]], Awaitable[Told]]
"""Gives what is told of messages that are left out."""


async def compacted(history: History, room: float, write: Write) -> tuple[list[Message], str]:
    """Messages that come to about `room` tokens, and how they were made: `CUT` or `SUMMARY`.

    Raises:
        ContextFull: nothing is left that could be shortened.
        ModelError: the model that was to write the summary failed.
    """
    shorter = _with_short_results(history.messages)
    if size(shorter) <= room:
        return shorter, CUT
    first, older, last = _divided(shorter, room * _STAYS)
    if size(older) >= _WORTH * size(shorter):
        return [*first, await _summary(history, older, room, write), *last], SUMMARY
    if shorter != history.messages:
        return shorter, CUT
    raise ContextFull(
        "The conversation is longer than the model can read, and nothing is left to shorten.",
        "Start a new session, or pick a model with a larger context window with --model.",
    )


async def summarised(history: History, room: float, write: Write) -> list[Message]:
    """A history in which all turns before the last are one summary.

    Raises:
        ContextFull: there are no turns before the last.
        ModelError: the model that was to write the summary failed.
    """
    *older, last = _turns(history.messages) or [[]]
    if not older:
        raise ContextFull("There is nothing to shorten: the last turn is always kept whole.")
    return [await _summary(history, [message for turn in older for message in turn], room, write), *last]


def size(messages: Sequence[Message]) -> float:
    """The tokens of messages, by their characters."""
    return sum(message_tokens(message) + picture_tokens(message) for message in messages)


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


def _divided(
    messages: Sequence[Message], room: float
) -> tuple[Sequence[Message], Sequence[Message], Sequence[Message]]:
    """The first turn if it stays, what is left out, and what fits of the end: the last turn at least.

    Of a last turn that is too long the prompt and the last steps stay.
    """
    *earlier, last = _turns(messages) or [[]]
    if size(last) > room:
        prompt, steps = last[:1], _steps(last[1:])
        kept = _fitting(steps, room - size(prompt)) or steps[-1:]
        gone = [message for step in steps[: len(steps) - len(kept)] for message in step]
        return [], [*_flat(earlier), *gone], [*prompt, *_flat(kept)]
    kept = _fitting(earlier, room - size(last))
    left_out = earlier[: len(earlier) - len(kept)]
    stays = len(left_out) > 1 and size(left_out[0]) <= _SHORT_TURN and not _is_summary(left_out[0])
    first = left_out.pop(0) if stays else []
    return first, _flat(left_out), [*_flat(kept), *last]


def _steps(messages: Sequence[Message]) -> list[list[Message]]:
    """A reply and the results of its calls each."""
    steps: list[list[Message]] = []
    for message in messages:
        if isinstance(message, Assistant) or not steps:
            steps.append([])
        steps[-1].append(message)
    return steps


def _fitting(groups: Sequence[list[Message]], room: float) -> list[list[Message]]:
    """The last ones that together fit."""
    at = len(groups)
    while at and (room := room - size(groups[at - 1])) >= 0:
        at -= 1
    return list(groups[at:])


def _flat(groups: Sequence[Sequence[Message]]) -> list[Message]:
    return [message for group in groups for message in group]


def _is_summary(turn: Sequence[Message]) -> bool:
    return isinstance(turn[0], User) and bool(turn[0].said)


async def _summary(history: History, older: Sequence[Message], room: float, write: Write) -> User:
    prompts = {id(history.messages[turn.at]): turn for turn in history.turns}
    said: list[str] = []
    for message in older:
        if isinstance(message, User):
            own = _words(prompts[id(message)]) if id(message) in prompts else message.text
            said += [words for words in message.said or [own] if words]
    return summary_of(said, await write(older), room)


def _words(turn: PastTurn) -> str:
    names = ", ".join(attachment.name for attachment in turn.attachments)
    return f"{turn.prompt} [attached: {names}]" if names else turn.prompt
