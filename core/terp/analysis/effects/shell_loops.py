"""The variables of loops: `rm "$f"` within `for f in *.log` is told as deleting `*.log`."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from terp.analysis.effects.shell_words import Command, Word


def unrolled(commands: Sequence[Command]) -> Iterator[Command]:
    """The commands, with the words of the loop in the place of its variable where that alone sets it."""
    loops = {name: words for name, words in _loops(commands).items() if words is not None}
    for command in commands:
        if _variable_of(command):
            yield command
        else:
            yield replace(
                command, words=tuple(word for given in command.words for word in _said(given, loops))
            )


def _loops(commands: Sequence[Command]) -> dict[str, tuple[Word, ...] | None]:
    loops: dict[str, tuple[Word, ...] | None] = {}
    for command in commands:
        if name := _variable_of(command):
            loops[name] = None if name in loops else command.words[3:]
    for command in commands:
        if not _variable_of(command):
            for word in command.words:
                # `f=…`, `read f`, `export f`: somebody else sets it as well.
                loops.pop(word.text.partition("=")[0].removesuffix("+"), None)
    return loops


def _variable_of(command: Command) -> str:
    words = command.words
    return words[1].text if len(words) > 2 and words[0].bare and words[0].text == "for" else ""


def _said(word: Word, loops: Mapping[str, Sequence[Word]]) -> Sequence[Word]:
    name = word.text.strip("${}")
    if word.plain or name not in loops or word.text not in (f"${name}", f"${{{name}}}"):
        return [word]
    # It may still be what a pattern finds: it is as little plain as the variable was.
    return [replace(one, plain=False, bare=False) for one in loops[name]]
