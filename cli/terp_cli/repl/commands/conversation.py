"""Commands on the conversation: undo, rewind, compact, resume and list."""

import os
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from terp.errors import KernelBusy
from terp.events import ReasoningDelta, TurnStarted
from terp.kernels.jupyter.local import LocalKernels
from terp.session.context.namespaces import Namespaces
from terp_cli.repl.commands.rows import columns, counted
from terp_cli.repl.commands.table import misused
from terp_cli.repl.commands.talk import PastTurn, SavedSession, Talk

if TYPE_CHECKING:
    from terp.session.rewind.rewinding import TakenBack, Written

_SHOWN_CHARS = 60
_UNDO = "undo"
_LISTED, _NAMED = 15, 12
_STYLES = ("bold", "bold", "dim", "dim", "")


async def reset(talk: Talk, _: str) -> None:
    """A new conversation in the same kernel; the session's event tells of it."""
    if not talk.session.history:
        talk.say("This conversation is new already.")
    talk.session.past.reset(copy=True)


async def undo(talk: Talk, _: str) -> None:
    """The last turn forgotten; what its code changed stays changed."""
    talk.say(f"Forgot: {short(talk.session.past.undo().prompt)}.")


async def retry(talk: Talk, _: str) -> None:
    """The last message sent again, as if for the first time."""
    if not talk.session.turns:
        talk.say("There is no message to send again.")
        return
    asked = talk.session.past.undo()
    talk.send(asked.prompt, asked.attachments)


async def compact(talk: Talk, focus: str) -> None:
    """A shorter history that keeps what matters, or with "undo" the one from before."""
    if focus == _UNDO:
        talk.session.past.lengthen()
        return
    done = await talk.session.compact(focus)
    talk.say(
        "All turns before the last are one summary now; /compact undo brings them back."
        if done
        else "Interrupted; nothing has changed."
    )


def compact_words(_: Talk, begun: str) -> list[str]:
    """What completes the argument of `/compact`."""
    return [_UNDO] if _UNDO.startswith(begun) else []


async def reasoning(talk: Talk, _: str) -> None:
    """What the model thought before its last answer."""
    thought: list[str] = []
    for record in reversed(talk.session.log.since(0)):
        if isinstance(record.event, TurnStarted):
            break
        if isinstance(record.event, ReasoningDelta):
            thought.append(record.event.text)
    text = "".join(reversed(thought)).strip()
    if not text:
        talk.say("The model has told no reasoning in its last turn.")
        return
    await talk.page(text.split("\n"), "reasoning")


async def fork(talk: Talk, _: str) -> None:
    """The conversation kept as another session, too; the session's event names it."""
    talk.session.past.fork()


async def sessions(talk: Talk, _: str) -> None:
    """The earlier sessions of this directory."""
    saved = talk.saved()
    if not saved:
        talk.say("There is no earlier session of this directory.")
        return
    talk.show(
        columns(
            [_row(one) for one in saved],
            talk.width,
            _STYLES[1:],
        )
    )


async def resume(talk: Talk, session: str) -> None:
    """Go on with an earlier session, by its ID or its number in the list that is shown if none is named."""
    saved = talk.saved()
    if session.isdecimal() and 0 < int(session) <= min(len(saved), _LISTED):
        session = saved[int(session) - 1].id
    if not session:
        await _offer(talk, saved[:_LISTED])
    elif await _may_end(talk):
        await talk.resume(session)


async def _offer(talk: Talk, saved: Sequence[SavedSession]) -> None:
    if not saved:
        talk.say("There is no earlier session of this directory.")
        return
    talk.show(columns([(f"{at:2}", *_row(one)) for at, one in enumerate(saved, 1)], talk.width, _STYLES))
    talk.say("Which one? Its number or the beginning of its ID.")
    talk.prefill("/resume ")


async def _may_end(talk: Talk) -> bool:
    """Whether the kernels of this session may end, which resuming another does to them."""
    kernels = talk.session.kernels
    if isinstance(kernels, LocalKernels) and kernels.attached:
        # A kernel of somebody else lives on.
        return True
    try:
        held = await Namespaces(kernels).variables()
    except KernelBusy as busy:
        return await talk.ask(f"{busy.message} Resuming another session ends it. Resume?")
    if not held:
        return True
    names = [one.name for _, one in held]
    more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
    holds = f"{', '.join(dict.fromkeys(language for language, _ in held))} holds {', '.join(names[:_NAMED])}"
    return await talk.ask(f"{holds}{more}. Resuming another session ends that. Resume?")


def session_ids(talk: Talk, begun: str) -> list[str]:
    """The ids of earlier sessions that begin like this."""
    return [one.id for one in talk.saved() if one.id.startswith(begun)]


def _row(one: SavedSession) -> tuple[str, ...]:
    return one.id, _day(one.last), counted(one.turns, "turn"), _title(one)


def _title(one: SavedSession) -> str:
    return f"{one.title} (copy of {one.forked_from})" if one.forked_from else one.title


def short(text: str) -> str:
    """A text as one line that is quoted, cut where it is long."""
    line = " ".join(text.split())
    return repr(line if len(line) <= _SHOWN_CHARS else line[: _SHOWN_CHARS - 1] + "…")


def _day(seconds: float) -> str:
    from datetime import datetime  # noqa: PLC0415  (for this list only)

    return datetime.fromtimestamp(seconds).astimezone().strftime("%Y-%m-%d %H:%M")


_CHAT = "chat"
_NAMED_AFTER_REWIND = 20


async def rewind(talk: Talk, argument: str) -> None:
    """Back to before a turn, whose message can be changed and sent again."""
    turns = talk.session.turns
    if not argument:
        lines = [(f"  {turn.number}", turn.prompt.strip().split("\n")[0]) for turn in turns]
        talk.say("/rewind N goes back to before:" if turns else "Nothing was said yet.")
        talk.show(columns(lines, talk.width, ("bold", "")) if lines else [])
        return
    number, _, how = argument.partition(" ")
    if not number.isdecimal():
        raise misused("rewind", f"'{number}' is not the number of a turn.")
    if how.strip() not in ("", _CHAT):
        raise misused("rewind", f"'{how.strip()}' is not '{_CHAT}'.")
    first = await (_of_chat if how.strip() else _of_all)(talk, int(number))
    talk.prefill(first.prompt)


async def _of_chat(talk: Talk, number: int) -> PastTurn:
    first = talk.session.past.rewind(number, copy=True)[0]
    talk.say(f"Back to before: {short(first.prompt)}.")
    return first


async def _of_all(talk: Talk, number: int) -> PastTurn:
    rewinding = talk.session.past.with_code
    files = [one for one in await rewinding.written(number) if one.can]
    yes = bool(files) and await talk.ask(_question(talk, files))
    taken = await rewinding.go(number, [one.path for one in files] if yes else [], copy=True)
    deleted = {one.path for one in files if one.new}
    talk.say(f"Back to before: {short(taken.turns[0].prompt)}.", *_outcome(talk, taken, deleted))
    return taken.turns[0]


def turn_numbers(talk: Talk, begun: str) -> list[str]:
    """The numbers of turns that begin like this, and what can follow one."""
    if begun[:-1].isdecimal() and begun.endswith(" "):
        return [begun + _CHAT]
    return [number for turn in talk.session.turns if (number := str(turn.number)).startswith(begun)]


def _question(talk: Talk, files: "Sequence[Written]") -> str:
    parts = [
        (verb, [_near(talk, one.path) for one in files if one.new == new])
        for verb, new in (("restore", False), ("delete", True))
    ]
    told = " and ".join(f"{verb} {_some(named)}" for verb, named in parts if named)
    return f"{told[0].upper()}{told[1:]}?"


def _outcome(talk: Talk, taken: "TakenBack", deleted: set[str]) -> list[str]:
    lines = [
        ("As they were", taken.back),
        ("Removed", taken.removed),
        ("Not restored, and as they are now", [f"{name} ({why})" for name, why in taken.lost]),
        ("Files as they were", [_near(talk, path) for path in taken.files if path not in deleted]),
        ("Files deleted", [_near(talk, path) for path in taken.files if path in deleted]),
        (
            "Files as they are now",
            [_near(talk, path) + (why and f" ({why})") for path, why in taken.files_lost],
        ),
    ]
    told = [f"{title}: {_some(names)}." for title, names in lines if names]
    return [*told, *(f"{one[:1].upper()}{one[1:]}." for one in taken.notes)]


def _some(names: Iterable[str]) -> str:
    named = [*names]
    more = f" and {len(named) - _NAMED_AFTER_REWIND} more" if len(named) > _NAMED_AFTER_REWIND else ""
    return ", ".join(named[:_NAMED_AFTER_REWIND]) + more


def _near(talk: Talk, path: str) -> str:
    """A path as seen from where the person works."""
    near = os.path.relpath(path, talk.session.kernels.cwd)
    return path if near.startswith("..") else near
