"""Completion for zsh."""

from collections.abc import Iterator, Sequence

from terp.secrets.keys import key_providers
from terp.session.emitting import FORMS
from terp_cli.generate.shells.entries import FlagEntry, verbs_with
from terp_cli.line.subcommands import EXPORTS, SHELLS, SUBCOMMANDS, VERBS
from terp_cli.verbs.docs import page_names

_HEAD = """\
#compdef terp
# Completion of terp in zsh. Written by python -m terp_cli.generate.shells from terp_cli.line: edit that.

_terp_profiles() {
    local own=${TERP_HOME:-${XDG_CONFIG_HOME:-$HOME/.config}/terp}/profiles
    local -aU names=(@PROFILES@ $own/*.(yaml|yml)(N:t:r))
    _alternative 'profiles:profile:compadd -a names' 'files:file:_files'
}

_terp_sessions() {
    local kept=${TERP_HOME:-${XDG_STATE_HOME:-$HOME/.local/state}/terp}/sessions
    local -a ids=($kept/*/events.jsonl(N:h:t))
    compadd -a ids
}

_terp_forms() {
    compset -P '*:' && compadd @FORMS@
}

_terp_first() {
    local -a commands=(
@COMMANDS@
    )
    _describe -t commands command commands
    _files
}

_terp_rest() {
    if ((CURRENT == 3)) && [[ $words[2] == completions ]]; then
        compadd @SHELLS@
@VERBS@
    elif ((CURRENT == 3)) && [[ $words[2] == docs ]]; then
        compadd @PAGES@
    elif ((CURRENT == 3)) && [[ $words[2] == export ]]; then
        compadd @EXPORTS@
    elif [[ "$words[2] $words[3]" == (@WITH_SESSIONS@) || $words[2] == export ||
        "$CURRENT $words[2]" == "3 replay" ]]; then
        _terp_sessions
    elif [[ "$words[2] $words[3]" == (@WITH_PROVIDERS@) ]]; then
        compadd @PROVIDERS@
    elif [[ "$words[2] $words[3]" == (@WITH_PROFILES@) ]]; then
        _terp_profiles
    else
        _files
    fi
}

_terp() {
    _arguments -S \\
@FLAGS@
        '1: :_terp_first' \\
        '*: :_terp_rest'
}

if [[ $funcstack[1] == _terp ]]; then
    _terp "$@"
else
    compdef _terp terp
fi
"""
_ACTIONS = {
    "text": " ",
    "file": "_files",
    "directory": "_files -/",
    "profile": "_terp_profiles",
    "session": "_terp_sessions",
    "emission": "_terp_forms",
}


def script(entries: Sequence[FlagEntry], profiles: Sequence[str]) -> str:
    """Return the text of the file `_terp`."""
    commands = (f"        {_quoted(f'{command.name}:{command.about}')}" for command in SUBCOMMANDS)
    parts = {
        "@PROFILES@": " ".join(profiles),
        "@COMMANDS@": "\n".join(commands),
        "@SHELLS@": " ".join(SHELLS),
        "@VERBS@": "\n".join(_verbs()),
        "@PAGES@": " ".join(page_names()),
        "@FORMS@": " ".join(FORMS),
        "@EXPORTS@": " ".join(EXPORTS),
        "@WITH_SESSIONS@": _after("session"),
        "@WITH_PROVIDERS@": _after("provider"),
        "@WITH_PROFILES@": _after("profile"),
        "@PROVIDERS@": " ".join(key_providers()),
        "@FLAGS@": "\n".join(f"        {spec} \\" for entry in entries for spec in _specs(entry)),
    }
    text = _HEAD
    for mark, part in parts.items():
        text = text.replace(mark, part)
    return text


def _verbs() -> Iterator[str]:
    for command, verbs in VERBS.items():
        yield f"    elif ((CURRENT == 3)) && [[ $words[2] == {command} ]]; then"
        yield f"        compadd {' '.join(verbs)}"


def _after(offered: str) -> str:
    """Return a pattern of the commands that take this kind of argument."""
    return "|".join(f"{command}\\ {verb}" for command, verb in verbs_with(offered))


def _specs(entry: FlagEntry) -> Iterator[str]:
    others = "*" if entry.repeats else f"({' '.join(entry.names)})"
    about = "".join(f"\\{char}" if char in "[]\\" else char for char in entry.about)
    for name in entry.names:
        # A long name takes its value as the next word or behind a sign.
        sign = "=" if name.startswith("--") and entry.value != "none" else ""
        yield _quoted(f"{others}{name}{sign}[{about}]{_value(entry)}")


def _value(entry: FlagEntry) -> str:
    if entry.value == "none":
        return ""
    action = f"({' '.join(entry.choices)})" if entry.choices else _ACTIONS[entry.value]
    return f":{entry.label}:{action}"


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "'\\''") + "'"
