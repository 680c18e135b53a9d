"""Foreign text inside Markdown, so that it stays what it is."""

import re

_ONE_BLOCK = re.compile(r"\s*(?P<fence>`{3,}|~{3,})[^\n`]*\n(?P<text>.*?)\n? {0,3}(?P=fence)\s*", re.DOTALL)


def fenced(text: str, language: str = "") -> str:
    """`text` in a fence longer than any run of backticks in it."""
    longest = max((len(run) for run in re.findall(r"`+", text)), default=0)
    fence = "`" * max(3, longest + 1)
    word = re.sub(r"[^\w+#.-]", "", language)
    end = "" if text.endswith("\n") else "\n"
    return f"{fence}{word}\n{text}{end}{fence}"


def quoted(text: str) -> str:
    """`text` as a block quote."""
    return "\n".join(f"> {line}".rstrip() for line in text.strip("\n").split("\n"))


def unfenced(text: str) -> str:
    """What stands in a text that is nothing but one fenced block; any other text as it is."""
    block = _ONE_BLOCK.fullmatch(text)
    if block is None or any(line.lstrip().startswith(block["fence"]) for line in block["text"].split("\n")):
        return text
    return block["text"]
