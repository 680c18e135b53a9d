"""The answers to a question that are one key each, and how they are read aloud.

    numbered(CHOICES)        "1 run it, 2 do not run it. Type the number or the letter and press Enter"
    letter_of("2", CHOICES)  "n"

A number is a name for a letter where the question was asked in that way, and nowhere else.
"""

from collections.abc import Sequence

from terp.person import Option


def lettered(options: Sequence[Option]) -> str:
    """The options as they are shown: `[y]es · [n]o`; a letter that does not begin the words stands before."""
    return " · ".join(
        f"[{option.letter}]{option.does[1:] if option.does.startswith(option.letter) else ' ' + option.does}"
        for option in options
    )


def numbered(choices: Sequence[Option], *, free: str = "") -> str:
    """The choices as one sentence to be heard; `free` says what any longer answer does."""
    said = ", ".join(
        f"{number} or {choice.letter}: {choice.does}" for number, choice in enumerate(choices, 1)
    )
    longer = f" {free[0].upper()}{free[1:].rstrip('.')}." if free else ""
    return f"{said}.{longer} Type the number or the letter and press Enter: "


def letter_of(answer: str, choices: Sequence[Option]) -> str:
    """The letter that a number stands for; any other answer as it is."""
    text = answer.strip()
    if text.isascii() and text.isdigit() and 0 < int(text) <= len(choices):
        return choices[int(text) - 1].letter
    return answer
