"""Markdown files with front matter: entries between two lines of `---`, then a text for the model."""

import re
from collections.abc import Iterator, Mapping

from terp.settings.profile_file import UnreadableSettings
from terp.text.dataclasses import dataclass, field

_HEAD = re.compile(r"---[ \t]*\n(?P<entries>(?:.*\n)*?)---[ \t]*(?:\n|\Z)")
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
    head, problem = _HEAD.match(text), None
    if head is None:
        is_open = text.partition("\n")[0].rstrip() == "---"
        problem = (1, "no second line `---` ends the entries.") if is_open else None
        return FrontMatter(text.strip(), problem=problem)
    try:
        found = list(_from_yaml(head["entries"]))
    except UnreadableSettings as error:
        # Other agents take the rest of a line as it is, also `[FILE] [WORDS]` and `Use when: …`.
        problem, found = (error.line + 1, error.why), []
        for number, line in enumerate(head["entries"].splitlines(), 1):
            if entry := _ENTRY.fullmatch(line.rstrip()):
                found.append((number, entry["name"], entry["value"].strip("\"'")))
    entries: dict[str, str] = {}
    lines: dict[str, int] = {}
    for line, name, value in found:
        if name in entries:
            problem = problem or (line + 1, f"`{name}` is set twice.")
        entries[name], lines[name] = value, line + 1
    return FrontMatter(text[head.end() :].strip(), entries, lines, problem)


def _from_yaml(head: str) -> Iterator[tuple[int, str, str]]:
    if not head.strip():
        return
    from terp.settings.yaml_entries import entries  # noqa: PLC0415  (few sessions have such files)

    for line, name, node in entries(head):
        # A list or a group as it is written.
        as_written = head[node.start_mark.index : node.end_mark.index]
        yield line, name, str(node.value if node.id == "scalar" else as_written).strip()
