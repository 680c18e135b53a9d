"""Parts of messages."""

from collections.abc import Iterable, Sequence


def shortened(text: str, most: int) -> str:
    """Return a text of at most so many characters: a longer one is cut, and ends in `…`."""
    return text if len(text) <= most else text[: most - 1].rstrip() + "…"


def first_names(names: Sequence[str], most: int) -> str:
    """Return the first names as a list in words, and the number of the others: `a, b and 3 more`."""
    more = len(names) - most
    return ", ".join(names[:most]) + (f" and {more} more" if more > 0 else "")


def did_you_mean(
    name: str, names: Iterable[str], otherwise: str = "", *, shown: str = "'{}'", cutoff: float = 0.6
) -> str:
    """Return a question with the most similar of `names`, as `shown`; `otherwise` if none is similar."""
    from difflib import get_close_matches  # noqa: PLC0415  (for a mistake only)

    near = get_close_matches(name, list(names), n=1, cutoff=cutoff)
    return f"Did you mean {shown.format(near[0])}?" if near else otherwise
