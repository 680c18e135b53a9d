"""Commands of the user's own, and of a trusted project: Markdown files that become prompts."""

import re
import shlex
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from terp.errors import TerpError
from terp.settings.front_matter import read_front_matter
from terp.settings.places import Places
from terp.settings.profile_file import short_path
from terp.settings.project.files import LARGEST_BYTES, Project
from terp.text.dataclasses import dataclass
from terp.text.files import Refused, read_bounded
from terp_cli.repl.commands.rows import short_line
from terp_cli.repl.commands.table import Commands, SlashCommand, function

if TYPE_CHECKING:
    from terp_cli.repl.context import ReplContext

_NAME = re.compile(r"[A-Za-z0-9_-]+")
# `!` and a command between backquotes; the places of arguments.
_PART = re.compile(r"!`(?P<shell>[^`\n]+)`|\$(?P<argument>ARGUMENTS\b|[1-9])")
_SHOWN = 60


@dataclass(frozen=True, slots=True)
class OwnCommand(SlashCommand):
    """A command in a Markdown file; `body` becomes the prompt.

    In the body `$ARGUMENTS` is what follows the command, `$1` to `$9` its words; `@file` attaches a file; and
    !`command` is a command of the shell that runs before the prompt is sent, if the user approves.
    """

    body: str = ""

    async def run(self, context: "ReplContext", argument: str) -> None:
        """Run the commands of the shell in it, and queue its prompt.

        Raises:
            TerpError: a file cannot be attached, or a quote in the argument is not closed.
        """
        await function("conversation.send_own")(context, self.name, *filled(self.body, argument))


def filled(body: str, argument: str) -> tuple[str, Sequence[str]]:
    """Return the prompt, and the commands of the shell in the body, with the argument filled in.

    In a command the words of the argument are quoted for the shell. An argument that has no place is added.

    Raises:
        TerpError: a quote in the argument is not closed.
    """
    try:
        words = shlex.split(argument)
    except ValueError:
        raise TerpError("A quote in the argument is not closed.") from None
    commands: list[str] = []

    def fill(found: re.Match[str], *, quote: bool = False) -> str:
        if command := found["shell"]:
            commands.append(_PART.sub(lambda inner: fill(inner, quote=True), command))
            return f"`{commands[-1]}` (you have its output)"
        named = words if found["argument"] == "ARGUMENTS" else words[int(found["argument"]) - 1 :][:1]
        if quote:
            return shlex.join(named)
        return argument if found["argument"] == "ARGUMENTS" else "".join(named)

    text = _PART.sub(fill, body)
    has_place = any(found["argument"] or "$" in found["shell"] for found in _PART.finditer(body))
    return text if has_place or not argument else f"{text}\n\n{argument}", commands


def own_commands(places: Places, project: Project, built_in: Commands) -> tuple[list[OwnCommand], list[str]]:
    """Return the user's commands and those of a trusted project, by name, and lines about unusable files."""
    found: dict[str, OwnCommand] = {}
    problems: list[str] = []
    for path, content in _files(places.commands, project):
        name = path.stem
        try:
            if not _NAME.fullmatch(name):
                raise Refused("has a name with other characters than letters, digits, - and _")
            if built_in.has(name):
                raise Refused(f"has the name of terp's own command /{name}; rename the file")
            read = read_front_matter(read_bounded(path, LARGEST_BYTES) if content is None else content)
            if not read.body:
                raise Refused("has no text to send")
        except Refused as refused:
            problems.append(f"{short_path(path)} {refused}.")
            continue
        wanted = read.entries.get("allowed-tools", "")
        more = f"In {short_path(path)}." + (f" It asks for {wanted}, which is not granted." if wanted else "")
        does = read.entries.get("description") or short_line(
            read.body.partition("\n")[0].lstrip("# "), _SHOWN
        )
        hint = read.entries.get("argument-hint", "") or "[…]"
        found[name] = OwnCommand(name, hint, does, "Yours", "", more, body=read.body)
    return [found[name] for name in sorted(found)], problems


def _files(own: Path, project: Project) -> Iterator[tuple[Path, bytes | None]]:
    """Yield the files, the one with precedence last; a project's with their trusted content."""
    yield from ((file.path, file.content) for file in project.commands)
    yield from ((path, None) for path in sorted(own.glob("**/*.md")))
