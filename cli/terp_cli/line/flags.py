"""The flags of the command line: of `Settings`, of a single call, and of Open Interpreter."""

from collections.abc import Iterator
from typing import Any

from terp.settings import Settings
from terp.settings.setting import Setting, setting, table
from terp.text.dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Options:
    """The flags of a single call, which are no settings."""

    profile: str = setting("", "a profile by name, or a file", flags=("-p",), metavar="NAME|FILE")
    file: tuple[str, ...] = setting(
        (), "attach a file, or the page at an address; may be repeated", flags=("-f",), metavar="FILE"
    )
    out: str = setting("", "collect the files and images of the run", flags=("-o",), metavar="DIR")
    emit: str = setting(
        "", "write a variable of the code to stdout instead of the answer", metavar="NAME[:FORM]"
    )
    cwd: str = setting("", "work in this directory", metavar="DIR")
    interactive: bool = setting(False, "stay at the prompt after the answer", flags=("-i",))
    detach: bool = setting(
        False, "let the session outlive this terminal: `terp attach last` shows it on any other"
    )
    continue_: bool = setting(False, "resume the last session of this directory", flags=("-c",))
    resume: str | None = setting(
        None,
        "resume a session: this one, or one from a list",
        kind="text",
        flags=("-r",),
        metavar="[ID]",
        optional="[0-9a-f]+(-[0-9a-f]*)*",
    )
    fork: bool = setting(False, "with -c or -r: continue in a copy of the session, which stays unchanged")
    rerun: bool = setting(False, "with -c or -r: first run the code of the session again")
    fresh: bool = setting(False, "for `terp replay`: run the code, in new kernels, and compare")
    output_format: str = setting(
        "text", "format of stdout; --json: json", choices=("text", "json", "stream-json")
    )
    timeout: float = setting(0.0, "stop the whole command after this time", unit="s", unset="never")
    no_stdin: bool = setting(
        False, "do not read stdin, for example a pipe that a script or a service keeps open", flags=("-n",)
    )
    quiet: bool = setting(
        False, "show the answer, errors, cut data and created files; no code, no output", flags=("-q",)
    )
    silent: bool = setting(False, "show only the answer and errors", flags=("-qq",))
    verbose: bool = setting(False, "show more details", flags=("-v",))
    debug: bool = setting(False, "show tracebacks of failures")
    plain: bool = setting(False, "no colours, no redrawing", flags=("-pl",))
    api_key: str = setting(
        "", "the key itself; other users of the machine can read it", flags=("-ak",), metavar="KEY"
    )
    all: bool = setting(False, "for `terp sessions`: of all directories")
    server: bool = setting(False, "serve sessions over HTTP and WebSocket; the same as `terp serve`")
    host: str = setting("", "for the server: the address it listens on", metavar="ADDRESS", unset="127.0.0.1")
    port: int | None = setting(
        None,
        "for the server: its port; 0 takes a free one",
        kind="whole",
        limits=(0, 65_535),
        unset="8000",
    )
    allow_remote: bool = setting(
        False, "for the server: --host may be an address that other machines can reach"
    )
    keep_token: bool = setting(False, "for the server: have the same token at each start")
    compat: bool = setting(False, "for the server: serve Open Interpreter's wire protocol as well")
    compat_unsafe: bool = setting(
        False, "for the server: with --compat, clients may run code without asking and reach any file"
    )
    max_sessions: int = setting(100, "for the server: sessions open at a time", limits=(1, 10_000))
    idle_timeout: float = setting(
        900.0, "for the server: idle time after which kernels are closed", unit="s", unset="never"
    )
    watch: bool = setting(
        False, "for `terp mcp-server`: show the sessions of agents on a page, to approve, type `>>>` or stop"
    )
    language: str = setting("", "for `terp run`: the language of the code", flags=("-l",), metavar="NAME")
    help: bool = setting(False, "show help; also after a command, and --help all", flags=("-h",))
    version: bool = setting(False, "show the version", flags=("-V",))


@dataclass(frozen=True, slots=True)
class Flag:
    """One spelling of a flag: it sets `row`, to `value` if it takes no value."""

    name: str
    row: Setting
    takes_value: bool
    value: Any = True
    of_call: bool = False


@dataclass(frozen=True, slots=True)
class Gone:
    """A flag of Open Interpreter that terp does not have. If `goes_on`, it is ignored with a notice."""

    why: str
    goes_on: bool = False


def rows() -> dict[str, Setting]:
    """Return all rows that a flag can set, by name."""
    return {**_settable(Settings), **_settable(Options)}


def _settable(declared: type) -> dict[str, Setting]:
    return {name: row for name, row in table(declared).items() if row.has_flag}


def all_flags() -> dict[str, Flag]:
    """Return all flags by their spelling, long ones with hyphens."""
    flags = [
        flag
        for declared in (Settings, Options)
        for row in _settable(declared).values()
        for flag in _spellings(row, of_call=declared is Options)
    ]
    return {flag.name: flag for flag in [*flags, *_with_one_value()]}


def long_names(row: Setting) -> tuple[str, ...]:
    """Return the long spellings of a row's flag, the one to show first; its name is one, if it is free."""
    # A name that Python reserves ends with an underscore.
    own = "--" + row.name.rstrip("_").replace("_", "-")
    named = [flag for flag in row.flags if flag.startswith("--")]
    without_unit = [flag for flag in named if own.startswith(flag)]
    # `terp mcp-server --watch` is an option of that call, and no setting.
    is_free = not row.group or row.name not in Options.__dataclass_fields__
    return tuple(dict.fromkeys([*without_unit, *([own] if is_free else []), *named]))


def _spellings(row: Setting, *, of_call: bool) -> Iterator[Flag]:
    for name in (*long_names(row), *(flag for flag in row.flags if not flag.startswith("--"))):
        yield Flag(name, row, row.kind != "switch", of_call=of_call)
    if row.kind == "switch" and not of_call:
        yield Flag("--no-" + row.name.replace("_", "-"), row, takes_value=False, value=False)


def _with_one_value() -> Iterator[Flag]:
    """Yield flags that set a row to one value, most of them from Open Interpreter."""
    known = rows()
    for names, name, value in (
        (("-lsv", "--llm-supports-vision", "--vision"), "supports_vision", True),
        (("-nlsv", "--no-llm-supports-vision"), "supports_vision", False),
        (("-lsf", "--llm-supports-functions"), "supports_tools", True),
        (("-nlsf", "--no-llm-supports-functions"), "supports_tools", False),
        (("--fast",), "profile", "fast"),
        (("--local",), "profile", "local"),
        (("--conversations",), "resume", ""),
        (("--no-net",), "network", False),
        (("--json",), "output_format", "json"),
    ):
        for spelling in names:
            yield Flag(spelling, known[name], False, value, of_call=name in table(Options))


THEIRS = {
    "-o": "Open Interpreter's -o is --offline, which terp does not need.",
    "-f": "Open Interpreter's -f is --fast.",
    "-l": "Open Interpreter's -l is --local.",
    "-vi": "Open Interpreter's -vi is --vision.",
}
"""Short flags with another meaning in Open Interpreter, and that meaning."""
_PRESET = "presets of models are not built in; name the model with --model"
GONE = {
    "--disable-telemetry": Gone("there is no telemetry to disable", goes_on=True),
    "-dt": Gone("there is no telemetry to disable", goes_on=True),
    "--contribute-conversation": Gone("conversations are never sent anywhere", goes_on=True),
    "--no-highlight-active-line": Gone("the active line is not highlighted", goes_on=True),
    "-nhl": Gone("the active line is not highlighted", goes_on=True),
    "--offline": Gone("terp itself uses the network only for the model", goes_on=True),
    "--stdin": Gone("stdin is the prompt whenever no words are given", goes_on=True),
    "-s": Gone("stdin is the prompt whenever no words are given", goes_on=True),
    "--multi-line": Gone("Alt+Enter makes a new line at any prompt", goes_on=True),
    "-ml": Gone("Alt+Enter makes a new line at any prompt", goes_on=True),
    "--profiles": Gone("call `terp profiles`"),
    "--reset-profile": Gone("remove the file of the profile; `terp profiles` shows where it is"),
    "--local-models": Gone("`terp doctor` lists the models found on this machine"),
    "--safe-mode": Gone("code always needs approval unless -y is given; leave it out"),
    "-safe": Gone("code always needs approval unless -y is given; leave it out"),
    "--speak-messages": Gone("answers are not spoken"),
    "-sp": Gone("answers are not spoken"),
    "--os": Gone("the screen and the mouse are not controlled"),
    "-os": Gone("the screen and the mouse are not controlled"),
    "--loop": Gone("a task is not repeated by itself; --until CHECK repeats it until a check passes"),
    "--codestral": Gone(_PRESET),
    "--assistant": Gone(_PRESET),
    "--llama3": Gone(_PRESET),
    "--groq": Gone(_PRESET),
}
