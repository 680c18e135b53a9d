"""Markdown files with front matter: entries between two lines of `---`, then a text for the model."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from terp.settings.profile_file import UnreadableSettings

_FENCE = "---"
_ENTRY = re.compile(r"(?P<name>[A-Za-z][\w-]*):[ \t]*(?P<value>.*)")


@dataclass(frozen=True, slots=True)
class FrontMatter:
    """A file as read: its entries as text, the line of each (the first is 1), and its `body`.

    `problem` is a mistake in the entries, as line and reason; those that could be read are there.
    """

    body: str
    entries: Mapping[str, str] = field(default_factory=dict)
    lines: Mapping[str, int] = field(default_factory=dict)
    problem: tuple[int, str] | None = None


def read_front_matter(content: bytes) -> FrontMatter:
    """Return the entries and the body of a file. Without a first line `---` all of it is body."""
    text = content.decode("utf-8-sig", errors="replace").replace("\r\n", "\n")
    lines = text.split("\n")
    if lines[0].rstrip() != _FENCE:
        return FrontMatter(text.strip())
    end = next((at for at, line in enumerate(lines[1:], 1) if line.rstrip() == _FENCE), 0)
    if not end:
        return FrontMatter(text.strip(), problem=(1, "no second line `---` ends the entries."))
    head, body = "\n".join(lines[1:end]), "\n".join(lines[end + 1 :]).strip()
    try:
        found, problem = list(_from_yaml(head)), None
    except UnreadableSettings as error:
        # Other agents take the rest of a line as it is, also `[FILE] [WORDS]` and `Use when: …`.
        found, problem = list(_line_by_line(head)), (error.line + 1, error.why)
    entries = {name: value for _, name, value in found}
    return FrontMatter(body, entries, {name: line + 1 for line, name, _ in found}, problem)


def _from_yaml(head: str) -> Iterator[tuple[int, str, str]]:
    if not head.strip():
        return
    from terp.settings.yaml_entries import entries  # noqa: PLC0415  (few sessions have such files)

    for line, name, node in entries(head):
        yield line, name, _text(node, head)


def _text(node: Any, head: str) -> str:
    """Return a value as text; a list or a group as it is written."""
    if node.id == "scalar":
        return str(node.value).strip()
    return head[node.start_mark.index : node.end_mark.index].strip()


def _line_by_line(head: str) -> Iterator[tuple[int, str, str]]:
    for number, line in enumerate(head.split("\n"), 1):
        if entry := _ENTRY.fullmatch(line.rstrip()):
            yield number, entry["name"], entry["value"].strip("\"'")
