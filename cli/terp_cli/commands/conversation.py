"""Commands on the conversation: what the model remembers of it."""

from terp.events import ReasoningDelta, TurnStarted
from terp_cli.commands.rows import columns, counted
from terp_cli.commands.table import misused
from terp_cli.commands.talk import Talk

_SHOWN_CHARS = 60
_UNDO = "undo"


async def reset(talk: Talk, _: str) -> None:
    """A new conversation in the same kernel; the session's event tells of it."""
    talk.session.past.reset()


async def undo(talk: Talk, _: str) -> None:
    """The last turn forgotten; what its code changed stays changed."""
    talk.say(f"Forgot: {_short(talk.session.past.undo().prompt)}.")


async def retry(talk: Talk, _: str) -> None:
    """The last message sent again, as if for the first time."""
    if not talk.session.turns:
        talk.say("There is no message to send again.")
        return
    asked = talk.session.past.undo()
    talk.send(asked.prompt, asked.attachments)


async def rewind(talk: Talk, number: str) -> None:
    """Back to before a turn, whose message can be changed and sent again."""
    turns = talk.session.turns
    if not number:
        lines = [(f"  {turn.number}", turn.prompt.strip().split("\n")[0]) for turn in turns]
        talk.say("/rewind N goes back to before:" if turns else "Nothing was said yet.")
        talk.show(columns(lines, talk.width, ("bold", "")) if lines else [])
        return
    if not number.isdecimal():
        raise misused("rewind", f"'{number}' is not the number of a turn.")
    first = talk.session.past.rewind(int(number), copy=True)[0]
    talk.prefill(first.prompt)
    talk.say(f"Back to before: {_short(first.prompt)}.")


def turn_numbers(talk: Talk, begun: str) -> list[str]:
    """The numbers of turns that begin like this."""
    return [number for turn in talk.session.turns if (number := str(turn.number)).startswith(begun)]


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
            [(one.id, _day(one.last), counted(one.turns, "turn"), one.title) for one in saved],
            talk.width,
            ("bold", "dim", "dim", ""),
        )
    )


async def resume(talk: Talk, session: str) -> None:
    """Go on with an earlier session, the last one if none is named."""
    saved = talk.saved()
    if not (session or saved):
        talk.say("There is no earlier session of this directory.")
        return
    await talk.resume(session or saved[0].id)


def session_ids(talk: Talk, begun: str) -> list[str]:
    """The ids of earlier sessions that begin like this."""
    return [one.id for one in talk.saved() if one.id.startswith(begun)]


def _short(text: str) -> str:
    line = " ".join(text.split())
    return repr(line if len(line) <= _SHOWN_CHARS else line[: _SHOWN_CHARS - 1] + "…")


def _day(seconds: float) -> str:
    from datetime import datetime  # noqa: PLC0415  (for this list only)

    return datetime.fromtimestamp(seconds).astimezone().strftime("%Y-%m-%d %H:%M")
