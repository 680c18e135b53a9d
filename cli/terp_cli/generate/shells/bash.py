"""Completion for bash."""

from collections.abc import Iterator, Sequence

from terp.secrets.keys import key_providers
from terp.session.emitting import FORMS
from terp_cli.generate.shells.entries import FlagEntry, ValueKind, verbs_with
from terp_cli.line.subcommands import EXPORTS, SHELLS, SUBCOMMANDS, VERBS
from terp_cli.verbs.docs import page_names

_HEAD = """\
# Completion of terp in bash. Written by python -m terp_cli.generate.shells from terp_cli.line: edit that.

_terp() {
    local now=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]} word words=()
    local own=${TERP_HOME:-${XDG_CONFIG_HOME:-$HOME/.config}/terp}/profiles
    local kept=${TERP_HOME:-${XDG_STATE_HOME:-$HOME/.local/state}/terp}/sessions
    COMPREPLY=()
    # Readline takes the colon of NAME:FORM as a word.
    if [[ ${COMP_LINE:0:COMP_POINT} =~ --emit[=[:space:]][A-Za-z0-9_]+:([a-z]*)$ ]]; then
        COMPREPLY=($(compgen -W "@FORMS@" -- "${BASH_REMATCH[1]}"))
        return
    fi
    # Readline takes the sign of --flag=value as a word.
    if [[ $now == = ]]; then
        now=
    elif [[ $before == = ]]; then
        before=${COMP_WORDS[COMP_CWORD - 2]}
    fi
    # Without words of ours, readline completes file names. The bash of macOS lacks compopt, and does always.
    case $before in
"""
_TAIL = """\
    esac
    for word in "${words[@]}"; do
        printf -v word %q "$word"
        [[ $word == "$now"* ]] && COMPREPLY+=("$word")
    done
}

complete -o default -F _terp terp
"""
_AFTER = '"${COMP_WORDS[1]} ${COMP_WORDS[2]}"'
_NO_FILES = "compopt +o default 2>/dev/null"


def script(entries: Sequence[FlagEntry], profiles: Sequence[str]) -> str:
    """Return the text of the file `terp.bash`."""
    head = _HEAD.replace("@FORMS@", " ".join(FORMS))
    return head + "".join(f"        {line}\n" for line in _arms(entries, profiles)) + _TAIL


def _arms(entries: Sequence[FlagEntry], profiles: Sequence[str]) -> Iterator[str]:
    yield f"{_flags(entries, 'profile')})"
    yield from _profiles(profiles, "    ")
    yield "    ;;"
    yield f"{_flags(entries, 'session')}) {_NO_FILES}"
    yield from _sessions("    ")
    yield "    ;;"
    for entry in entries:
        if entry.choices:
            yield f"{' | '.join(entry.names)}) {_NO_FILES}; words=({' '.join(entry.choices)}) ;;"
    yield f"{_flags(entries, 'file')}) ;;"
    yield f"{_flags(entries, 'directory')}) compopt +o default -o dirnames 2>/dev/null ;;"
    yield f"{_flags(entries, 'text')} | {_flags(entries, 'emission')}) {_NO_FILES} ;;"
    yield "*)"
    yield "    if [[ $now == -* ]]; then"
    yield f"        {_NO_FILES}"
    yield "        words=("
    yield from (f"            {' '.join(entry.names)}" for entry in entries)
    yield "        )"
    yield "    elif ((COMP_CWORD == 1)); then"
    yield f"        words=({' '.join(command.name for command in SUBCOMMANDS)})"
    yield "    elif ((COMP_CWORD == 2)) && [[ $before == completions ]]; then"
    yield f"        words=({' '.join(SHELLS)})"
    for command, verbs in VERBS.items():
        yield f"    elif ((COMP_CWORD == 2)) && [[ $before == {command} ]]; then"
        yield f"        words=({' '.join(verbs)})"
    yield "    elif ((COMP_CWORD == 2)) && [[ $before == docs ]]; then"
    yield f"        {_NO_FILES}; words=({' '.join(page_names())})"
    yield "    elif ((COMP_CWORD == 2)) && [[ $before == export ]]; then"
    yield f"        words=({' '.join(EXPORTS)})"
    yield f"    elif [[ {_AFTER} == @({_after('session')}) ]] ||"
    yield "        { ((COMP_CWORD == 3)) && [[ ${COMP_WORDS[1]} == export ]]; } ||"
    yield "        { ((COMP_CWORD == 2)) && [[ $before == replay ]]; }; then"
    yield f"        {_NO_FILES}"
    yield from _sessions("        ")
    yield f"    elif [[ {_AFTER} == @({_after('provider')}) ]]; then"
    yield f"        {_NO_FILES}; words=({' '.join(key_providers())})"
    yield f"    elif [[ {_AFTER} == @({_after('profile')}) ]]; then"
    yield from _profiles(profiles, "        ")
    yield "    fi ;;"


def _after(offered: str) -> str:
    """Return a pattern of the commands that take this kind of argument."""
    return "|".join(f"{command}' '{verb}" for command, verb in verbs_with(offered))


def _profiles(profiles: Sequence[str], indent: str) -> Iterator[str]:
    yield f"{indent}words=({' '.join(profiles)})"
    yield f'{indent}for word in "$own"/*.yaml "$own"/*.yml; do'
    yield f'{indent}    [[ -f $word ]] && word=${{word##*/}} && words+=("${{word%.*}}")'
    yield f"{indent}done"


def _sessions(indent: str) -> Iterator[str]:
    yield f'{indent}for word in "$kept"/*/events.jsonl; do'
    yield f'{indent}    [[ -f $word ]] && word=${{word%/*}} && words+=("${{word##*/}}")'
    yield f"{indent}done"


def _flags(entries: Sequence[FlagEntry], value: ValueKind) -> str:
    return " | ".join(name for entry in entries if entry.value == value for name in entry.names)
