"""The names of languages, in all the ways that models and people write them."""

from collections.abc import Sequence

# Each row is one language; whichever of its names a kernel goes by, the others mean it too.
_FAMILIES = (
    ("python", "py", "python3", "py3", "ipython", "ipython3", "tool_code"),
    ("shell", "bash", "sh", "zsh"),
    ("javascript", "js", "node", "nodejs"),
    ("typescript", "ts", "deno"),
    ("r", "rscript", "ir"),
    ("julia", "jl"),
    ("ruby", "rb"),
    ("perl", "pl"),
    ("lua",),
    ("php",),
    ("c", "gcc"),
    ("applescript", "osascript"),
    ("powershell", "pwsh", "ps1"),
    ("go", "golang"),
    ("rust", "rs"),
    ("c++", "cpp", "cxx"),
    ("c#", "csharp", "cs"),
    ("java", "jshell"),
    ("kotlin", "kt"),
    ("sql", "duckdb"),
    ("html", "htm"),
    ("react", "jsx", "tsx"),
)


def known_languages() -> tuple[str, ...]:
    """Return the names of all known languages, installed or not; Python first."""
    return tuple(family[0] for family in _FAMILIES)


def spellings(languages: Sequence[str]) -> dict[str, str]:
    """Return every lower-case spelling of the given languages, mapped to the name given.

    A name given outright wins over a family's, the earlier language over the later.
    """
    known = {language.casefold(): language for language in reversed(languages)}
    for language in languages:
        for family in _FAMILIES:
            if language.casefold() in family:
                for name in family:
                    known.setdefault(name, language)
    if typescript := known.get("typescript"):
        # JavaScript is TypeScript, and not the other way round.
        known = {**dict.fromkeys(_FAMILIES[2], typescript), **known}
    return known


def language_of(word: str, languages: Sequence[str]) -> str:
    """Return the language among `languages` that a word means, in any case; "" for none of them."""
    return spellings(languages).get(word.strip().casefold(), "")


def means_language(word: str) -> bool:
    """Return True if a word is the name of a known language."""
    return any(word.casefold() in family for family in _FAMILIES)
