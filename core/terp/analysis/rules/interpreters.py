"""Commands that no rule allows: they run whatever code or command they are given."""

import re

from terp.analysis.effects.known import shell_tools

_INTERPRETERS = frozenset(
    str.split("""
        python pypy ipython jupyter node nodejs deno bun ts-node perl ruby irb php lua luajit r rscript julia
        java jshell scala groovy kotlin clojure ghci runghc ocaml racket guile sbcl tclsh expect wish octave
        swift erl iex elixir awk gawk mawk nawk sed ed ex vi vim nvim emacs gdb lldb
        csh tcsh ash busybox pwsh powershell osascript xonsh nu
        npx bunx uvx rsh tmux screen at batch crontab sqlite3 psql mysql pkexec run0 unshare nsenter
    """)
)
# They change what the commands after them mean.
_REDEFINING = frozenset(
    str.split("""
        alias unalias export declare typeset readonly local set setopt unsetopt shopt enable disable trap
        hash unset function autoload zmodload bindkey compdef complete fc
    """)
)
_KEYWORDS = frozenset(str.split("for while until if then elif else do done case esac select in time ! { }"))
# `python3.12`, `node20`, `python.exe`.
_VERSION = re.compile(r"(?:[-.]?\d[\d.]*)?(?:\.exe)?\Z")


def why_never(command: str) -> str:
    """Why no rule allows this command, as a part of a sentence; "" for one that it may."""
    name = base_name(command)
    if command in _KEYWORDS:
        return f"`{command}` belongs to the language of the shell and is no command"
    if name in _REDEFINING:
        return f"`{command}` changes what later commands mean, so no rule allows it"
    if name in _INTERPRETERS or runs_others(command):
        return f"`{command}` runs whatever it is given, so no rule allows it; name what it would run"
    return ""


def base_name(command: str) -> str:
    """The name of a command without its folder and version, in small letters."""
    name = command.rpartition("/")[2].lower()
    # `7z` and `[` keep what they are.
    return _VERSION.sub("", name) or name


def runs_others(command: str) -> bool:
    """Whether a command is one whose words are another command, as `sudo` or `timeout`."""
    name = command.rpartition("/")[2]
    return name in shell_tools().wrappers or name in shell_tools().transparent or name == "find"
