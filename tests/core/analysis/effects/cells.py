"""Cells with what must be told of them, read from a file beside this one."""

from pathlib import Path

from terp.events.effects import Effects


def said(effects: Effects) -> str:
    """Effects as the files write them."""
    return " | ".join(f"{effect.kind}: {', '.join(effect.targets)}" for effect in effects.found) or "computes"


def harmless_cells(name: str = "harmless_cells.txt") -> list[tuple[str, str]]:
    """Cells as models write them, with what is told of each."""
    text = Path(__file__).with_name(name).read_text(encoding="utf-8")
    blocks = [block.partition("\n") for block in text.split("\n======\n")[1:]]
    return [(code.removesuffix("\n"), head.removeprefix("## ")) for head, _, code in blocks]


def hostile_cells() -> list[tuple[str, str, str]]:
    """The language of code that does harm, the code, and a kind of effect that must be told of it."""
    heads = [(code, head.rpartition(": ")) for code, head in harmless_cells("hostile_cells.txt")]
    return [(language.rstrip(": "), code, kind) for code, (language, _, kind) in heads]
