"""The effects of code in any language."""

from collections.abc import Mapping

from terp.analysis.effects.cells import cell_effects
from terp.analysis.effects.shell import shell_effects
from terp.events.effects import Effects, cannot_tell
from terp.text.languages import language_of

MOST_CHARACTERS = 200_000
"""Code that is longer is not read: nobody else would read it either."""


def effects_of(language: str, code: str, known: Mapping[str, str] | None = None, cwd: str = "") -> Effects:
    """What `code` would do, as far as every name in it is known; raises nothing, whatever the code.

    `known` are names that the kernel has already, each with the full name of the module, function or
    class it is or is an instance of (`{"pd": "pandas", "df": "pandas.DataFrame"}`), or `TOOL` for a tool of
    the session and `SERVERS` for its MCP servers; all others are unknown.
    A module in the directory `cwd` takes the place of one of the same name that would be known.
    """
    if len(code) > MOST_CHARACTERS:
        return cannot_tell(f"{len(code):,} characters are too many to read")
    try:
        match language_of(language, ["python", "shell"]):
            case "python":
                return cell_effects(code, known or {}, cwd)
            case "shell":
                return shell_effects(code)
    except (RecursionError, MemoryError):
        return cannot_tell("it is nested too deep to read")
    return cannot_tell(f"{language or 'this language'} is not read")
