"""Commands on the conversation: undo, rewind, compact, resume and list."""

import time
from collections.abc import Sequence
from contextlib import aclosing
from functools import partial

from terp.errors import KernelBusy, TerpError
from terp.events import ReasoningDelta, TurnStarted
from terp.kernels.jupyter.local import LocalKernels
from terp.opening.chat_session import checkpoints_of
from terp.session.context.history import PastTurn
from terp.session.context.namespaces import Namespaces
from terp.store.catalogue import Catalogue
from terp.store.checkpointing import restored
from terp.store.places import is_session
from terp.store.titles import read_title, store_title
from terp.text.wording import first_names
from terp_cli.prompt.interface import Pick
from terp_cli.render.rewound import outcome, question
from terp_cli.repl.commands.rows import short_line
from terp_cli.repl.commands.table import function, misused
from terp_cli.repl.context import ReplContext
from terp_cli.repl.missed_mentions import attached
from terp_cli.repl.resuming import picks_of, when
from terp_cli.terminal.sanitise import one_line

_SHOWN_CHARS = 60
_UNDO = "undo"
_NAMED = 12
_LONGEST = 200


async def reset(context: ReplContext, _: str) -> None:
    """Start a new conversation in the same kernel; the session's event reports it."""
    if not context.session.history:
        context.say("This conversation is still empty.")
        return
    context.session.rewind.reset(copy=True)
    # The copy has the title of the conversation that it holds.
    store_title(context.session.folder, "")


async def rename(context: ReplContext, title: str) -> None:
    """Give this session a title."""
    if not title:
        raise misused("rename", "it needs a title.")
    folder = context.session.folder
    if not is_session(folder):
        raise TerpError("This session is not stored yet.", "Its first turn stores it.")
    Catalogue(context.places.sessions).rename(folder, context.session.resources.redacted(title))
    context.say(f"The session is called {read_title(folder)!r} now.")


async def undo(context: ReplContext, _: str) -> None:
    """Forget the last turn; the changes of its code stay."""
    context.say(f"Forgot: {short_line(context.session.rewind.undo().prompt, _SHOWN_CHARS)!r}.")


async def retry(context: ReplContext, _: str) -> None:
    """Send the last message again, as if for the first time."""
    if not context.session.turns:
        context.say("There is no message to send again.")
        return
    asked = context.session.rewind.undo()
    context.next.append((asked.prompt, asked.attachments))


async def compact(context: ReplContext, focus: str) -> None:
    """Compact the history; with "undo", restore the uncompacted one."""
    if focus == _UNDO:
        context.session.rewind.undo_compaction()
        return
    done = await context.session.compact(focus)
    context.say(
        "A summary replaced all turns before the last; /compact undo restores them."
        if done
        else "Interrupted; nothing has changed."
    )


async def reasoning(context: ReplContext, _: str) -> None:
    """Show the model's reasoning before its last answer."""
    thought: list[str] = []
    for record in reversed(context.session.log.since(0)):
        if isinstance(record.event, TurnStarted):
            break
        if isinstance(record.event, ReasoningDelta):
            thought.append(record.event.text)
    text = "".join(reversed(thought)).strip()
    if not text:
        context.say("The last turn has no reasoning.")
        return
    await context.page(text.split("\n"), "reasoning")


async def fork(context: ReplContext, _: str) -> None:
    """Copy the conversation to another session; the session's event names it."""
    context.session.rewind.fork()


async def resume(context: ReplContext, session: str) -> None:
    """Resume an earlier session, by its ID, or one that the user picks."""
    if not session:
        saved = context.saved()
        if not saved:
            context.say("There is no earlier session of this directory.")
            return
        at = await context.prompt.pick("Resume which session?", picks_of(saved))
        if at is None:
            return
        session = saved[at].id
    if await _may_end(context):
        plans = context.approval == "plan"
        await context.resume(session)
        if plans:
            await function("switches.plan")(context, "")


async def _may_end(context: ReplContext) -> bool:
    """Return True if the kernels of this session may end, as they do when another is resumed."""
    kernels = context.session.kernels
    if isinstance(kernels, LocalKernels) and kernels.attached:
        # A kernel of somebody else lives on.
        return True
    try:
        held = await Namespaces(kernels).variables()
    except KernelBusy as busy:
        return await context.ask(f"{busy.message} Resuming another session ends it. Resume?")
    if not held:
        return True
    names = [one.name for _, one in held]
    holders = ", ".join(dict.fromkeys(language for language, _ in held))
    holds = f"{holders} holds {first_names(names, _NAMED)}"
    return await context.ask(f"{holds}. Resuming another session ends that. Resume?")


def session_ids(context: ReplContext, begun: str) -> list[str]:
    """Return the ids of earlier sessions that begin with `begun`."""
    return [one.id for one in context.saved() if one.id.startswith(begun)]


_LOAD, _DROP, _LIST = "load", "drop", "list"


async def checkpoint(context: ReplContext, argument: str) -> None:
    """Save a checkpoint of Python's variables, or load, remove or list those of this session."""
    checkpoints = checkpoints_of(context.session)
    verb, _, name = argument.partition(" ")
    if verb == _LIST:
        stored = [checkpoints.store.read(one) for one in checkpoints.store.all()]
        for one in stored:
            context.say(f"{one.name}  {when(one.made)}  {one.summary()}")
            context.say(*(f"  {name} is not kept: {why}" for name, why in one.left))
        context.say(*([] if stored else ["There is no checkpoint. /checkpoint saves one."]))
    elif verb == _LOAD:
        context.say(restored(await checkpoints.load(name.strip())))
    elif verb == _DROP:
        if not name:
            raise misused("checkpoint", "drop needs a name.")
        await checkpoints.drop(name.strip())
        context.say(f"Removed checkpoint {name.strip()}.")
    elif verb in ("auto", "off"):
        raise TerpError(f"'{verb}' cannot name a checkpoint.", f"/settings checkpoint {verb} is the setting.")
    elif name:
        raise misused("checkpoint", f"'{one_line(argument)}' has more than one word.")
    else:
        began = time.monotonic()
        saved = await checkpoints.save(*filter(None, [verb]))
        context.say(f"Saved in {time.monotonic() - began:.1f} s: {saved.summary()}")


_CHAT = "chat"


async def rewind(context: ReplContext, argument: str) -> None:
    """Go back to before a turn; its message can then be changed and sent again."""
    turns = context.session.turns
    if not argument:
        if not turns:
            context.say("There is no turn yet.")
            return
        picks = [
            Pick((f"{turn.number}  {short_line(turn.prompt, _LONGEST)}",), preview=partial(str, turn.prompt))
            for turn in turns
        ]
        at = await context.prompt.pick("Go back to before which turn?", picks, len(picks) - 1)
        if at is None:
            return
        argument = str(turns[at].number)
    number, _, how = argument.partition(" ")
    if not number.isdecimal():
        raise misused("rewind", f"'{number}' is not the number of a turn.")
    if how.strip() not in ("", _CHAT):
        raise misused("rewind", f"'{how.strip()}' is not '{_CHAT}'.")
    first = await (_of_chat if how.strip() else _of_all)(context, int(number))
    context.prompt.prefill(first.prompt)


async def _of_chat(context: ReplContext, number: int) -> PastTurn:
    first = context.session.rewind.remove_turns(number, copy=True)[0]
    context.say(f"Back to before: {short_line(first.prompt, _SHOWN_CHARS)!r}.")
    return first


async def _of_all(context: ReplContext, number: int) -> PastTurn:
    rewind = context.session.rewind
    files = [one for one in await rewind.changed_files(number) if one.restorable]
    yes = bool(files) and await context.ask(question(context.session.kernels.cwd, files))
    taken = await rewind.restore(number, [one.path for one in files] if yes else [], copy=True)
    deleted = {one.path for one in files if one.new}
    context.say(
        f"Back to before: {short_line(taken.turns[0].prompt, _SHOWN_CHARS)!r}.",
        *outcome(context.session.kernels.cwd, taken, deleted),
    )
    return taken.turns[0]


def turn_numbers(context: ReplContext, begun: str) -> list[str]:
    """Return the completions of `/rewind`: turn numbers, and words that may follow one."""
    if begun[:-1].isdecimal() and begun.endswith(" "):
        return [begun + _CHAT]
    return [number for turn in context.session.turns if (number := str(turn.number)).startswith(begun)]


async def send_own(context: ReplContext, name: str, prompt: str, commands: Sequence[str]) -> None:
    """Queue the prompt of the user's own command, after `commands` of the shell that they approve."""
    shown = ", ".join(f"`{command}`" for command in commands)
    if commands and not await context.ask(f"Run {shown} for /{name}?"):
        context.say(f"/{name} was not sent.")
        return
    attachments = await attached(prompt, context.cwd, context, Namespaces(context.session.kernels))
    for command in commands:
        async with aclosing(context.session.run("shell", command)) as events:
            await context.show_events(events)
    context.next.append((prompt, attachments))
