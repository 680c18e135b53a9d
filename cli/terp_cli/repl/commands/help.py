"""`/help`, and the page of commands; both are generated from the table."""

from collections.abc import Iterable, Iterator
from pathlib import Path

import terp_cli
from terp_cli.repl.commands.every import all_commands
from terp_cli.repl.commands.table import GROUPS, Commands, SlashCommand
from terp_cli.repl.context import ReplContext

FORMS = (
    ("!COMMAND", "run a shell command without the model, which reads the output; %% COMMAND is the same"),
    (">>> CODE", "run Python in the kernel without the model, which reads the output"),
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

`%NAME` is the same as `/NAME`. `/help` lists the commands, `/help NAME` shows one. This page is generated
from the table of commands by `python -m terp_cli.repl.commands`."""
KEYS = (
    ("Alt+Enter, Ctrl+J", 'another line of the same message; so does a trailing \\ or a """ block'),
    ("Ctrl+R", "search what was typed before"),
    ("Ctrl+X Ctrl+E", "write in your editor"),
    ("Ctrl+L", "clear the screen"),
    ("Up", "while a turn runs, on an empty line: take back the line that was queued last"),
    ("Ctrl+B", "while code runs, on an empty line: move it to the background, as /bg"),
    ("Ctrl+C, Esc", "interrupt, keeping everything; at the prompt Ctrl+C clears the line, twice leaves"),
    ("Esc", "at a question: no"),
    ("Ctrl+D", "leave"),
)


async def show(context: ReplContext, name: str) -> None:
    """Show all commands, or one in detail."""
    context.say(*about(all_commands().named(name)) if name else overview(all_commands()))


def names(_: ReplContext, begun: str) -> Iterable[str]:
    """Return the commands that begin with `begun`."""
    return (command.name for command in all_commands().table if command.name.startswith(begun))


def overview(commands: Commands) -> Iterator[str]:
    """Return a line for each command, each form of message, and each key."""
    groups = [
        (group, [(one.usage, one.does) for one in commands.table if one.group == group]) for group in GROUPS
    ]
    width = max(len(usage) for _, lines in groups for usage, _ in lines)
    for title, lines in [*groups, ("In a message", list(FORMS)), ("Keys", list(KEYS))]:
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
        blocks.append(f"## {group}")
        blocks += [_entry(command) for command in commands.table if command.group == group]
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
