"""Commands that write or read files: exports, saved code, and conversations in Open Interpreter's form."""

import asyncio
import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import cast

from terp.analysis.effects.cells import effects_of
from terp.errors import TerpError
from terp.events.kernel import Variable
from terp.kernels.jupyter.local import LocalKernels
from terp.opening.session import limits_of
from terp.secrets.environment import find_python
from terp.secrets.known_secrets import Secrets
from terp.secrets.redactor import Redactor
from terp.session.context.namespaces import Namespaces
from terp.store.export.saving import KeptCode, cut_story, differences, script_differences, with_dependencies
from terp.store.export.script import Distributions, distributions_of
from terp.store.export.story import redacted, story_of
from terp.store.export.writing import FORMATS, Format, write_new, write_story
from terp.store.export.writing import export as write_session
from terp.store.saved_messages import read_messages, to_json
from terp.text.files import size_text
from terp.text.paths import typed_path
from terp.text.plain import counted
from terp_cli.repl.commands.table import misused, unquoted
from terp_cli.repl.context import ReplContext

_MESSAGES = "messages.json"


async def export(context: ReplContext, argument: str) -> None:
    """Export the session to a file of a format."""
    format_, _, path = argument.partition(" ")
    if format_ not in FORMATS:
        # `/export plot.html` says as much.
        path, format_ = argument, Path(unquoted(argument)).suffix.removeprefix(".")
    if format_ not in FORMATS:
        raise misused("export", f"the format is one of {', '.join(FORMATS)}.")
    await _exported(context, format_, path.strip())


async def jupyter(context: ReplContext, path: str) -> None:
    """Export the session as a notebook."""
    await _exported(context, "ipynb", path)


async def markdown(context: ReplContext, path: str) -> None:
    """Export the session as Markdown."""
    await _exported(context, "md", path)


async def _exported(context: ReplContext, format_: str, path: str) -> None:
    session = context.session
    records = session.log.since(0)
    written = await asyncio.to_thread(
        write_session,
        records,
        session.folder,
        cast("Format", format_),
        place_in(context, path),
        redactor=_redactor(context),
        distributions=lambda: _distributions(context),
    )
    context.say(f"{written} ({size_text(written.stat().st_size)})")


async def save_message(context: ReplContext, path: str) -> None:
    """Save the conversation as JSON that Open Interpreter can also read."""
    messages = context.session.history
    if not messages:
        context.say("This conversation is still empty.")
        return
    text = to_json(messages, _redactor(context))
    written = write_new(place_in(context, path or _MESSAGES), text.encode("utf-8", "replace"))
    size = size_text(written.stat().st_size)
    context.say(f"{written} ({counted(len(messages), 'message')}, {size})")


async def load_message(context: ReplContext, path: str) -> None:
    """Replace this conversation by that of a file from `save_message`."""
    place = place_in(context, path or _MESSAGES)
    messages = read_messages(place, str(place))
    context.session.history = messages
    context.say(
        f"The conversation is that of {place} now: {counted(len(messages), 'message')}. "
        "No code of it has run here; variables are as they were."
    )


def _redactor(context: ReplContext) -> Redactor:
    """Return the redactor of this session's secrets."""
    secrets = context.session.resources.secrets or Secrets(context.environ, context.settings)
    return secrets.redactor()


def _distributions(context: ReplContext) -> Distributions:
    """Return the distributions of the Python that runs the code here; else of the configured one."""
    kernels = context.session.kernels
    if isinstance(kernels, LocalKernels):
        return distributions_of(kernels.python.path)
    return distributions_of(find_python(context.settings.python, context.environ).path)


def place_in(context: ReplContext, path: str) -> Path:
    """Return the path of a file that the user names: below the directory of the code."""
    return context.cwd / typed_path(unquoted(path))


_INIT = """\
/init: write AGENTS.md

Write AGENTS.md for the folder you work in: what somebody who works here
with code has to know and cannot guess. Look first, with few short runs, at
README, configuration, scripts, tests and the heads of data files. Then say
in at most 40 lines what is here, which commands build, test and run it,
what the data means, and which rules the files follow. Leave out what is
obvious. If there is an AGENTS.md, change only what is wrong or missing.
Make the change with edit_file('AGENTS.md', old, new), where an empty old
creates the file, so that the user sees a diff."""


async def init(context: ReplContext, _: str) -> None:
    """Let the model write AGENTS.md; the diff is shown before the file changes."""
    context.next.append((_INIT, ()))


_OUTSIDE = frozenset({"writes", "deletes", "network", "subprocess", "installs", "secrets"})


async def why(context: ReplContext, name: str) -> None:
    """Show the code that computed a value."""
    if not name.isidentifier():
        raise misused("why", "it takes the name of a variable.")
    cut = await _cut(context, [name])
    context.say(f"{name} comes from {len(cut.runs)} of {counted(cut.of, 'run')}:")
    for run, kept in zip(cut.runs, cut.kept, strict=True):
        # Of code that cannot be analysed, all before it is kept.
        why = kept.why or ("" if kept.names else "a later run may need it")
        reason = f"kept, as {why}" if why else f"for {', '.join(kept.names)}"
        context.say(f"run {run.number}, {reason}:", *(f"    {line}" for line in run.code.strip().split("\n")))


async def save(context: ReplContext, argument: str) -> None:
    """Save the code that computes a value as a script, and run it once as a check."""
    try:
        path, *names = shlex.split(argument)
    except ValueError as error:
        raise misused("save", "a file comes first, and then names.") from error
    format_ = Path(path).suffix.removeprefix(".")
    if format_ not in ("ipynb", "py"):
        why = "the file is a notebook (.ipynb) or a script (.py), in quotes if its name has spaces."
        raise misused("save", why)
    if wrong := next((name for name in names if not name.isidentifier()), None):
        raise misused("save", f"'{wrong}' is no name of a variable.")
    cut = await _cut(context, names)
    written = await asyncio.to_thread(_written, context, cut, format_, place_in(context, path))
    context.say(
        f"{written} ({size_text(written.stat().st_size)}): {len(cut.runs)} of {counted(cut.of, 'run')}"
        + (f", kept for {', '.join(names)}." if names else ", kept for what was shown last.")
    )
    unread = [f"run {run.number} ({one.why})" for run, one in zip(cut.runs, cut.kept, strict=True) if one.why]
    if unread:
        context.say(f"Kept because its effects are unknown: {', '.join(unread)}.")
    script = written if format_ == "py" else None
    await _check(context, cut, names, script)


async def _check(context: ReplContext, cut: KeptCode, names: Sequence[str], script: Path | None) -> None:
    kernels = context.session.kernels
    if not isinstance(kernels, LocalKernels) or kernels.attached:
        context.say("It was not run again: its kernel was not started by terp on this machine.")
        return
    kinds = {kind for run in cut.runs for kind in effects_of(run.language, run.code).kinds & _OUTSIDE}
    how = "as a script and in a new kernel? It does twice" if script else "in a new kernel? It does again"
    if kinds and not await context.ask(f"Run it once {how}: {', '.join(sorted(kinds))}."):
        context.say("It was not run again.")
        return
    try:
        as_script, found = await _differing(context, kernels.fresh(), cut, names, script)
    except TerpError as error:
        context.say(f"It could not be run again: {error.message}")
        return
    if as_script:
        context.say("It does not reproduce. As a script this differs:", *"\n".join(as_script).split("\n"))
    if found:
        context.say("It does not reproduce. In a new kernel this differs:", *"\n".join(found).split("\n"))
    if not (as_script or found):
        prints = "as a script it prints the same, and " if script else ""
        context.say(f"It reproduces: {prints}in a new kernel it makes and shows the same.")


async def _differing(
    context: ReplContext,
    fresh: LocalKernels,
    cut: KeptCode,
    names: Sequence[str],
    script: Path | None,
) -> tuple[list[str], list[str]]:
    """Return the differences of the script's run, and of the cells' run; the kernels are closed."""
    limits, as_kept = limits_of(context.settings), _redactor(context).redacted
    try:
        as_script = (
            await script_differences(script, cut.runs, fresh, limits, as_kept=as_kept) if script else []
        )
        held = await _held(context, names)
        return as_script, await differences(cut.runs, fresh, held, limits, as_kept=as_kept)
    finally:
        await fresh.aclose()


async def _held(context: ReplContext, names: Sequence[str]) -> Mapping[str, Variable]:
    namespaces = Namespaces(context.session.kernels)
    return {
        one.name: one
        for language, one in await namespaces.variables()
        if language == "python" and one.name in names
    }


async def _cut(context: ReplContext, names: Sequence[str]) -> KeptCode:
    session = context.session
    records = session.log.since(0)
    return await asyncio.to_thread(lambda: cut_story(story_of(records, session.folder), names))


def _written(context: ReplContext, cut: KeptCode, format_: str, target: Path) -> Path:
    known = _distributions(context)
    story = redacted(cut.story, _redactor(context))
    if format_ == "ipynb":
        story = with_dependencies(story, known)
    return write_story(story, cast("Format", format_), target, lambda: known)
