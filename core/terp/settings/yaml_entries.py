"""A YAML mapping as lines, names and nodes, and the reasons why a file is no such mapping."""

from collections.abc import Iterator
from typing import Any

import yaml

from terp.settings.profile_file import UnreadableSettings

_DEEPEST = 8
_SHAPE = "must be lines of `name: value`."


def entries(text: str) -> Iterator[tuple[int, str, Any]]:
    """Return line, name and YAML node of every entry.

    Raises:
        UnreadableSettings: `text` is not one plain mapping.
    """
    try:
        _refuse_cleverness(text)
        root = yaml.compose(text, Loader=yaml.SafeLoader)
    except yaml.YAMLError as error:
        raise UnreadableSettings(*_explain(error, text)) from error
    if not isinstance(root, yaml.MappingNode):
        raise UnreadableSettings(_line(root), _SHAPE)
    for key, value in root.value:
        if not isinstance(key, yaml.ScalarNode):
            raise UnreadableSettings(_line(key), _SHAPE)
        yield _line(key), key.value, value


def _line(item: Any) -> int:
    return int(item.start_mark.line) + 1 if item is not None else 1


def _refuse_cleverness(text: str) -> None:
    # From events, not nodes: composing deeply nested text would recurse, and follow aliases.
    depth = documents = 0
    for event in yaml.parse(text, Loader=yaml.SafeLoader):
        documents += isinstance(event, yaml.DocumentStartEvent)
        depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
        if getattr(event, "anchor", None) is not None:
            raise UnreadableSettings(
                _line(event), "anchors and aliases (& and *) are not used; quote text that needs them."
            )
        if getattr(event, "tag", None) is not None:
            raise UnreadableSettings(_line(event), "tags (!) are not used; quote text that needs them.")
        if depth > _DEEPEST or documents > 1:
            raise UnreadableSettings(_line(event), _SHAPE)


def _explain(error: yaml.YAMLError, text: str) -> tuple[int, str]:
    """Return line and reason of a mistake in the YAML itself."""
    mark = getattr(error, "problem_mark", None)
    if mark is None:
        return text.count("\n", 0, getattr(error, "position", 0)) + 1, "this line holds a control character."
    lines = text.splitlines()
    number = min(mark.line, len(lines) - 1)
    indent = lines[number][: len(lines[number]) - len(lines[number].lstrip())]
    if "\t" in indent:
        return number + 1, "a tab indents this line; YAML takes spaces only."
    return number + 1, f"this is not YAML: {getattr(error, 'problem', None) or 'it ends too early'}."
