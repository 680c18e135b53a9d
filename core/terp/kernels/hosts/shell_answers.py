"""What a shell can tell between its cells: completions, what a command is, its variables."""

import re
import shlex
import subprocess
from collections.abc import Sequence

from terp.kernels.hosts.shell_process import ShellProcess

_MOST = 200
_BREAK = re.compile(r"[\s;|&()<>=`]")
_COMMAND = re.compile(r"(?:^|[;|&(`{!]|\$\(|\b(?:then|do|else|sudo|exec|time|if|while))\s*$")
_DECLARED = re.compile(r"^(?:declare|typeset|export) (?:(-\S+) )?([A-Za-z_]\w*)(?:=(.*))?$", re.MULTILINE)
# Set by the shell itself while it works.
_OWN = {"_", "BASH_ARGC", "BASH_ARGV", "BASH_LINENO", "BASH_REMATCH", "BASH_SOURCE", "FUNCNAME", "OLDPWD"}
_DECLARATIONS = {
    "bash": "declare -p; declare -F",
    "zsh": "typeset -p; print -rl -- 'typeset -f '${(k)^functions}",
}
_KINDS = {"A": "map", "a": "array", "i": "int", "f": "function"}
_INCOMPLETE = re.compile(
    r"unexpected EOF|unexpected end of file|delimited by end-of-file|\bunmatched\b|parse error near `\\n'"
)
_LONGEST_HEAD = 200


def complete(shell: ShellProcess, code: str) -> tuple[int, list[str]]:
    """Completions for the end of `code`, and where the word begins that they replace."""
    start = _word_start(code)
    word = code[start:]
    if word.startswith("$"):
        brace = "${" if word.startswith("${") else "$"
        found = _compgen(shell, "-v", word[len(brace) :])
        return start, [f"{brace}{name}" for name in found]
    plain = re.sub(r"\\(.)", r"\1", word).lstrip("'\"")
    is_command = bool(_COMMAND.search(code[:start])) and "/" not in plain
    if is_command and not plain:
        return start, []
    found = _compgen(shell, "-c", plain) if is_command else _files(shell, plain)
    return start, [shlex.quote(name) if not is_command else name for name in found]


def describe(shell: ShellProcess, code: str, cursor: int) -> str:
    """What the shell knows of the command at `cursor`; "" when it knows nothing."""
    start = _word_start(code[:cursor])
    word = _BREAK.split(code[start:], maxsplit=1)[0]
    return shell.aside(f"type -- {shlex.quote(word)}").strip() if word else ""


def completeness(program: str, code: str) -> str:
    """Jupyter's word for whether code could run as it is: complete, incomplete or invalid."""
    if re.search(r"(?<!\\)(?:\\\\)*\\\n?\Z", code):
        return "incomplete"
    try:
        checked = subprocess.run(
            [program, "-n"],
            input=code.encode(),
            capture_output=True,
            timeout=5,
            env={"LC_ALL": "C"},
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return "unknown"
    told = checked.stderr.decode(errors="replace")
    if _INCOMPLETE.search(told):
        return "incomplete"
    return "invalid" if checked.returncode else "complete"


def names(shell: ShellProcess) -> Sequence[tuple[str, str, str]]:
    """All variables and functions: name, type, and the beginning of the value as the shell writes it."""
    told = shell.aside(_DECLARATIONS[shell.kind])
    rows: dict[str, tuple[str, str, str]] = {}
    for flags, name, value in _DECLARED.findall(told):
        kind = next((_KINDS[flag] for flag in flags if flag in _KINDS), "str")
        if name not in _OWN:
            rows.setdefault(name, (name, kind, value[:_LONGEST_HEAD]))
    return sorted(rows.values())


def _word_start(code: str) -> int:
    at = len(code)
    while at and (not _BREAK.match(code[at - 1]) or (at > 1 and code[at - 2] == "\\")):
        at -= 1
    return at


def _files(shell: ShellProcess, word: str) -> list[str]:
    directories = set(_compgen(shell, "-d", word))
    return [f"{name}/" if name in directories else name for name in _compgen(shell, "-f", word)]


def _compgen(shell: ShellProcess, action: str, word: str) -> list[str]:
    if shell.kind == "zsh":
        return _of_zsh(shell, action, word)
    told = shell.aside(f"compgen {action} -- {shlex.quote(word)}")
    return sorted(set(told.splitlines()))[:_MOST]


def _of_zsh(shell: ShellProcess, action: str, word: str) -> list[str]:
    quoted = shlex.quote(word)
    lists = {
        "-v": "${(k)parameters}",
        "-c": "${(k)commands} ${(k)functions} ${(k)builtins} ${(k)aliases} ${(k)reswords}",
        "-f": f"{quoted}*(N)",
        "-d": f"{quoted}*(N/)",
    }
    told = shell.aside(f"print -rl -- {lists[action]}")
    return sorted({line for line in told.splitlines() if line and line.startswith(word)})[:_MOST]
