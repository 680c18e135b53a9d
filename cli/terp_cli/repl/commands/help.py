"""`/help`, and the page of commands; both are generated from the table."""

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import terp_cli
from terp_cli.repl.commands.every import all_commands
from terp_cli.repl.commands.rows import columns
from terp_cli.repl.commands.table import GROUPS, Commands, SlashCommand
from terp_cli.repl.context import ReplContext

FORMS = (
    ("!COMMAND, %% COMMAND", "run in the shell; !: until Esc; !!: on the terminal"),
    (">>> CODE", "run Python in the kernel; the model reads the output"),
    ("@FILE, @NAME", "a file or a variable that goes with the message"),
)
_INTRODUCTION = """\
Type a command at the prompt of a conversation.

```
> /vars
> /rewind 2
> !git status
> >>> df.describe()
```

`%NAME` is the same as `/NAME`. `/help all` lists the commands, `/help NAME` shows one. This page is generated
from the table of commands by `python -m terp_cli.repl.commands`."""
KEYS = (
    ("Alt+Enter, Ctrl+J", 'another line of the message; also a trailing \\ or """'),
    ("Ctrl+C, Esc", "interrupt, keeping variables; Ctrl+C twice: leave"),
    ("Ctrl+B", "while code runs: move it to the background, as /bg"),
    ("Ctrl+R", "search what was typed before"),
    ("Ctrl+L", "clear the screen"),
    ("Ctrl+D", "leave"),
    ("Ctrl+V", "attach the picture on the clipboard"),
    ("Ctrl+O", "show a long paste whole, or all output of the last run"),
    ("Ctrl+X Ctrl+E", "write in your editor"),
    ("Up", "while a turn runs, on an empty line: take back the line that was queued last"),
    ("Esc", "at a question: no"),
    ("Esc Esc", "at the prompt, on an empty line: go back to an earlier turn, as /rewind"),
)
# Where lines are not redrawn, the terminal itself takes the keys.
_LINE_KEYS = (
    ('\\ or """', "at the end of a line: the message continues"),
    ("Ctrl+C", KEYS[1][1]),
    ("Ctrl+D", "leave"),
)
_FIRST = ("model", "auto_run", "vars", "out", "rewind", "resume", "reset", "save", "cost", "settings")
_FIRST_KEYS = 5
_ALL = "all"


async def show(context: ReplContext, name: str) -> None:
    """Show the most used commands, all of them, or one in detail."""
    commands = all_commands(context.own_commands)
    keys = KEYS if context.redraws else _LINE_KEYS
    if not name:
        context.show(columns(first_steps(commands, keys[:_FIRST_KEYS]), context.width, ("bold", "")))
        context.say("/help all lists every command and key; /help NAME shows more about one.")
    else:
        context.say(*overview(commands, keys) if name == _ALL else about(commands.named(name)))


def names(context: ReplContext, begun: str) -> Iterable[str]:
    """Return the commands that begin with `begun`, and the word for all."""
    known = (_ALL, *(one.name for one in all_commands(context.own_commands).table))
    return (name for name in known if name.startswith(begun))


def first_steps(commands: Commands, keys: Sequence[tuple[str, str]]) -> list[tuple[str, str]]:
    """Return the most used commands, forms and keys with their descriptions; blank pairs separate them."""
    named = [(one.usage, one.does) for one in map(commands.named, _FIRST)]
    return [*named, ("", ""), *FORMS, *keys, ("", "")]


def overview(commands: Commands, keys: Sequence[tuple[str, str]]) -> Iterator[str]:
    """Return a line for each command, each form of message, and each key."""
    groups = [
        (group, [(one.usage, one.does) for one in commands.table if one.group == group and one.listed])
        for group in GROUPS
    ]
    groups = [(group, lines) for group, lines in groups if lines]
    width = max(len(usage) for _, lines in groups for usage, _ in lines)
    for title, lines in [*groups, ("In a message", list(FORMS)), ("Keys", list(keys))]:
        yield title
        yield from (f"  {usage:{width}}  {does}" for usage, does in lines)
        yield ""
    yield "%NAME is the same as /NAME. /help NAME shows more about one."


def about(command: SlashCommand) -> Iterator[str]:
    """Return the details of one command."""
    yield f"{command.usage}  {command.does}"
    if command.more:
        yield command.more
    if command.aliases:
        yield f"Also: {', '.join(f'/{alias}' for alias in command.aliases)}"


def page(commands: Commands) -> str:
    """Return the page of commands, in Markdown."""
    blocks = [
        "# Commands of the REPL",
        _INTRODUCTION,
    ]
    for group in GROUPS:
        entries = [_entry(command) for command in commands.table if command.group == group]
        blocks += [f"## {group}", *entries] if entries else []
    blocks += ["## In a message", _table(FORMS), "## Keys", _table(KEYS)]
    return "\n\n".join(blocks) + "\n"


def place() -> Path:
    """Return the path of the page in a checkout."""
    return Path(terp_cli.__file__).parents[2] / "docs" / "commands.md"


def _entry(command: SlashCommand) -> str:
    also = f" (also {', '.join(f'`/{alias}`' for alias in command.aliases)})" if command.aliases else ""
    text = f"**`{command.usage}`**{also}: {command.does}."
    return f"{text} {command.more}".rstrip()


def _table(lines: Iterable[tuple[str, str]]) -> str:
    rows = [f"| `{left}` | {right} |" for left, right in lines]
    return "\n".join(["| | |", "|---|---|", *rows])
