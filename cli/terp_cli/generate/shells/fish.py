"""Completion for fish."""

from collections.abc import Iterator, Sequence

from terp.secrets.keys import key_providers
from terp.session.emitting import FORMS
from terp_cli.generate.shells.entries import FlagEntry, verbs_with
from terp_cli.line.subcommands import EXPORTS, SHELLS, SUBCOMMANDS, VERBS
from terp_cli.verbs.docs import page_names

_HEAD = """\
# Completion of terp in fish. Written by python -m terp_cli.generate.shells from terp_cli.line: edit that.

function __terp_profiles
    set -l own $HOME/.config
    set -q XDG_CONFIG_HOME; and test -n "$XDG_CONFIG_HOME"; and set own $XDG_CONFIG_HOME
    set own $own/terp
    set -q TERP_HOME; and test -n "$TERP_HOME"; and set own $TERP_HOME
    printf '%s\\n' @PROFILES@
    for file in $own/profiles/*.yaml $own/profiles/*.yml
        string replace -r '.*/(.*)\\.ya?ml$' '$1' -- $file
    end
end

function __terp_sessions
    set -l kept $HOME/.local/state
    set -q XDG_STATE_HOME; and test -n "$XDG_STATE_HOME"; and set kept $XDG_STATE_HOME
    set kept $kept/terp
    set -q TERP_HOME; and test -n "$TERP_HOME"; and set kept $TERP_HOME
    for log in $kept/sessions/*/events.jsonl
        string replace -r '.*/(.*)/events.jsonl$' '$1' -- $log
    end
end

# NAME:FORM for the name that stands there.
function __terp_forms
    set -l name (commandline -ct | string replace -r '^--[^=]*=' '' | string match -r '^\\w+(?=:)')
    and printf '%s\\n' $name:{@FORMS@}
end

# True if exactly these words stand before the cursor.
function __terp_after
    test (string join ' ' -- (commandline -opc)) = "$argv"
end

function __terp_directories
    # fish's own function takes --flag= for a part of the path.
    __fish_complete_directories (commandline -ct | string replace -r '^--[^=]*=' '')
end

"""
_VALUES = {
    "none": "",
    "text": "-x",
    "file": "-r -F",
    "directory": "-x -a '(__terp_directories)'",
    "session": "-x -a '(__terp_sessions)'",
    "emission": "-x -a '(__terp_forms)'",
    "profile": "-r -a '(__terp_profiles)'",
}


def script(entries: Sequence[FlagEntry], profiles: Sequence[str]) -> str:
    """Return the text of the file `terp.fish`."""
    lines = [*_subcommands(), *map(_flag, entries)]
    head = _HEAD.replace("@PROFILES@", " ".join(profiles)).replace("@FORMS@", ",".join(FORMS))
    return head + "".join(f"{line}\n" for line in lines)


def _subcommands() -> Iterator[str]:
    for command in SUBCOMMANDS:
        yield f"complete -c terp -n '__terp_after terp' -a {command.name} -d {_quoted(command.about)}"
    yield f"complete -c terp -n '__terp_after terp completions' -x -a '{' '.join(SHELLS)}'"
    for name, verbs in VERBS.items():
        yield f"complete -c terp -n '__terp_after terp {name}' -x -a '{' '.join(verbs)}'"
    yield f"complete -c terp -n '__terp_after terp docs' -x -a '{' '.join(page_names())}'"
    yield f"complete -c terp -n '__terp_after terp export' -x -a '{' '.join(EXPORTS)}'"
    for format_ in EXPORTS:
        yield f"complete -c terp -n '__terp_after terp export {format_}' -x -a '(__terp_sessions)'"
    yield "complete -c terp -n '__terp_after terp replay' -a '(__terp_sessions)'"
    for name, verb in verbs_with("session"):
        yield f"complete -c terp -n '__terp_after terp {name} {verb}' -x -a '(__terp_sessions)'"
    for name, verb in verbs_with("profile"):
        yield f"complete -c terp -n '__terp_after terp {name} {verb}' -a '(__terp_profiles)'"
    for name, verb in verbs_with("provider"):
        yield f"complete -c terp -n '__terp_after terp {name} {verb}' -x -a '{' '.join(key_providers())}'"


def _flag(entry: FlagEntry) -> str:
    # A value without a description would be listed with the one of its flag.
    choices = " ".join(f'{choice}\\t""' for choice in entry.choices)
    value = f"-x -a '{choices}'" if entry.choices else _VALUES[entry.value]
    parts = ["complete -c terp", *map(_name, entry.names), value, "-d", _quoted(entry.about)]
    return " ".join(filter(None, parts))


def _name(name: str) -> str:
    if name.startswith("--"):
        return f"-l {name[2:]}"
    # fish calls several letters behind one hyphen "old style".
    return f"{'-s' if len(name) == 2 else '-o'} {name[1:]}"


def _quoted(text: str) -> str:
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"
