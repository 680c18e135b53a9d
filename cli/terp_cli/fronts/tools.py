"""Which functions the model can call, and where they come from."""

from collections.abc import Sequence

from terp.tools.files.declared import Tool


def listed(tools: Sequence[Tool]) -> list[tuple[str, str, str]]:
    """For each tool its name, its arguments, and its source or what it lacks; the lacking last."""
    return [_row(tool) for tool in sorted(tools, key=lambda one: bool(one.missing))]


def _row(tool: Tool) -> tuple[str, str, str]:
    source = f"{tool.source}, answered by you" if tool.how == "manual" else tool.source
    return tool.name, f"({tool.arguments})", f"missing: {tool.missing}" if tool.missing else source
