"""The one table of settings: the fields of `Settings`.

Flags, `TERP_…` variables, YAML keys and `--help` derive from it. A field declares its setting with
`setting(…)`, which keeps what a person must know in the field's metadata; `table(Settings)` reads it
back. A front end declares the options of a single call (`--cwd`, `--file`) in the same form.
"""

import math
import os
from collections.abc import Mapping, Sequence
from dataclasses import Field, dataclass, field, fields, replace
from typing import Any, Literal, TypeVar

Kind = Literal["text", "switch", "whole", "number", "names"]
T = TypeVar("T")

BUILT_IN = "built-in"
VARIABLE_PREFIX = "TERP_"
_TRUE = frozenset({"1", "true", "yes", "on"})
_FALSE = frozenset({"0", "false", "no", "off"})


@dataclass(frozen=True)
class Setting:
    """One row: how a value is named, read, limited and explained.

    `unset` says what the default (0, empty, none) means when it is not a value of its own. Where `optional`
    is given, a flag may stand without a value: the word behind it is one only if it has this form. Names that
    `are_paths` are relative to the file of settings that they stand in.
    """

    about: str
    group: str = ""
    kind: Kind = "text"
    flags: tuple[str, ...] = ()
    metavar: str = ""
    unit: str = ""
    unset: str = ""
    choices: tuple[str, ...] = ()
    limits: tuple[float, float] = (0, math.inf)
    in_files: bool = True
    are_paths: bool = False
    optional: str = ""
    name: str = ""
    default: Any = None

    @property
    def variable(self) -> str:
        """The environment variable that sets it."""
        return VARIABLE_PREFIX + self.name.upper()

    @property
    def rule(self) -> str:
        """What a value must be, to follow "must be"."""
        if self.choices:
            return "one of " + ", ".join(self.choices)
        low, high = self.limits
        span = f"{low:g} or more" if high == math.inf else f"from {low:g} to {high:g}"
        return {
            "text": "text",
            "switch": "true or false",
            "whole": f"a whole number, {span}",
            "number": f"a number, {span}",
            "names": "a list of names",
        }[self.kind]

    def parse(self, text: str) -> Any:
        """The value that `text` means.

        Raises:
            ValueError: it means none; `rule` says what it must be.
        """
        if self.kind == "text":
            return self._one_of_the_choices(text)
        if self.kind == "names":
            return tuple(name for part in text.split(",") if (name := part.strip()))
        if self.kind == "switch":
            return _truth(text)
        return self._within_limits(int(text) if self.kind == "whole" else float(text))

    def checked(self, value: Any) -> Any:
        """`value`, which a program gave, if it is one of this setting; a path serves as text.

        Raises:
            ValueError: it is none, and text is no switch; `rule` says what it must be.
        """
        if type(value) is type(self.default) and value == self.default:
            return value
        if self.kind == "names" and _are_names(value):
            return tuple(value)
        if self.kind == "text" and isinstance(value, str | os.PathLike):
            return self._one_of_the_choices(os.fspath(value))
        if self.kind == "switch" and isinstance(value, bool):
            return value
        numbers = int if self.kind == "whole" else int | float
        # To Python, True is a whole number.
        if self.kind in ("whole", "number") and isinstance(value, numbers) and not isinstance(value, bool):
            return self._within_limits(value)
        raise ValueError(value)

    def _one_of_the_choices(self, text: str) -> str:
        if self.choices and text not in self.choices:
            raise ValueError(text)
        return text

    def _within_limits(self, number: float) -> float:
        low, high = self.limits
        # A comparison with nan is false, and an endless limit is written 0.
        if not (low <= number <= high) or math.isinf(number):
            raise ValueError(number)
        return number


def _are_names(value: Any) -> bool:
    return isinstance(value, list | tuple) and all(isinstance(name, str) for name in value)


def _truth(text: str) -> bool:
    word = text.strip().lower()
    if word not in _TRUE | _FALSE:
        raise ValueError(text)
    return word in _TRUE


def setting(default: T, about: str, **facts: Any) -> T:
    """A field that is a setting; its kind follows from the default unless `facts` name one."""
    kinds = {bool: "switch", int: "whole", float: "number", tuple: "names"}
    facts.setdefault("kind", kinds.get(type(default), "text"))
    row = Setting(about, default=default, **facts)
    return field(default=default, metadata={"setting": row})


def table(declared: type) -> dict[str, Setting]:
    """The rows that a dataclass declares, by name, in order."""
    own: Sequence[Field[Any]] = fields(declared)
    return {one.name: replace(one.metadata["setting"], name=one.name) for one in own if one.metadata}


@dataclass(frozen=True)
class Settings:
    """Every setting, with its built-in value. `origins` says where the other values came from."""

    model: str = setting(
        "",
        "the model, as PROVIDER/NAME",
        group="model",
        flags=("-m",),
        metavar="NAME",
        unset="found by the keys in the environment, else a local server",
    )
    adapter: str = setting(
        "auto", "how the model is reached", group="model", choices=("auto", "direct", "litellm")
    )
    api_base: str = setting(
        "", "address of an OpenAI-compatible server", group="model", flags=("-ab",), metavar="URL"
    )
    api_version: str = setting(
        "", "version of the API, where a provider wants one", group="model", flags=("-av",), metavar="TEXT"
    )
    api_key_env: str = setting(
        "", "the variable that holds the key", group="model", metavar="VARIABLE", unset="the provider's own"
    )
    temperature: float | None = setting(
        None,
        "how freely the model words its replies",
        group="model",
        kind="number",
        flags=("-t",),
        limits=(0, 2),
        unset="the provider's choice",
    )
    max_tokens: int = setting(
        0, "length of one reply", group="model", flags=("-x",), unit="tokens", unset="the provider's choice"
    )
    context_window: int = setting(
        0,
        "what the model can read at once",
        group="model",
        flags=("-cw",),
        unit="tokens",
        unset="looked up by the model's name",
    )
    supports_tools: bool | None = setting(
        None,
        "whether the model can call tools; without, it writes fenced code",
        group="model",
        kind="switch",
        unset="tried out",
    )
    supports_vision: bool | None = setting(
        None,
        "whether the model can see images",
        group="model",
        kind="switch",
        unset="looked up by the model's name",
    )
    reasoning_effort: str = setting(
        "",
        "how much a reasoning model thinks",
        group="model",
        choices=("none", "minimal", "low", "medium", "high"),
        unset="the provider's choice",
    )
    timeout_s: float = setting(
        180.0, "silence of the model after which a request fails", group="model", unit="s", unset="never"
    )
    retries: int = setting(3, "how often a failed request is sent again", group="model", limits=(0, 20))

    system_message: str = setting(
        "",
        "the whole system prompt, in place of terp's own",
        group="conversation",
        flags=("-sm",),
        metavar="TEXT",
    )
    instructions: str = setting(
        "",
        "your own instructions, added to the system prompt",
        group="conversation",
        flags=("-ci", "--custom-instructions"),
        metavar="TEXT",
    )
    max_steps: int = setting(
        50, "model replies in one turn before it stops", group="conversation", unset="no limit"
    )
    max_budget_usd: float = setting(
        0.0,
        "what a session may cost",
        group="conversation",
        flags=("-b", "--max-budget"),
        unit="USD",
        unset="no limit",
    )
    max_output_chars: int = setting(
        20_000,
        "output of a run that the model reads; head and tail are kept",
        group="conversation",
        flags=("-xo", "--max-output"),
        unit="characters",
        limits=(500, 10_000_000),
    )
    session_quota_mb: int = setting(
        1_000,
        "disk space for stored sessions; beyond it the oldest are removed",
        group="conversation",
        unit="MB",
        unset="no limit",
    )

    auto_run: bool = setting(False, "run code without asking", group="code", flags=("-y",))
    python: str = setting(
        "",
        "the Python that runs the code",
        group="code",
        metavar="PATH",
        unset="the active environment, else terp's own",
    )
    shell: str = setting(
        "",
        "the shell that runs shell code: a bash or a zsh",
        group="code",
        metavar="PATH",
        unset="bash, else the zsh of $SHELL",
    )
    languages: tuple[str, ...] = setting(
        (),
        "the languages that code may be in, the default first",
        group="code",
        metavar="NAME,…",
        unset="all that this machine runs",
    )
    packages: tuple[str, ...] = setting(
        (), "packages that must be there before the first Python code runs", group="code", metavar="NAME,…"
    )
    auto_install: str = setting(
        "",
        "whether a package that code imports is installed: those that terp knows, or any",
        group="code",
        flags=("--auto-install",),
        choices=("", "never", "ask", "known", "always"),
        unset="ask; known with auto_run",
    )
    run_timeout_s: float = setting(
        0.0,
        "seconds after which a run is interrupted",
        group="code",
        flags=("--run-timeout",),
        unit="s",
        unset="never",
    )
    env_pass: tuple[str, ...] = setting(
        (), "variables that the code may see, besides the harmless ones", group="code", metavar="NAME,…"
    )
    tools: tuple[str, ...] = setting(
        (), "files that declare tools: .py, .yaml, .json", group="code", metavar="FILE,…", are_paths=True
    )
    search_provider: str = setting(
        "",
        "who searches the web",
        group="code",
        choices=("searxng", "brave", "tavily"),
        unset="the one whose key or address there is",
    )
    search_url: str = setting(
        "", "address of a SearXNG server, or of another provider", group="code", metavar="URL"
    )

    theme: str = setting(
        "auto",
        "the ground that colours must be readable on",
        group="terminal",
        choices=("auto", "dark", "light", "none"),
    )
    images: str = setting(
        "auto",
        "how pictures are drawn; their files are named in any case",
        group="terminal",
        choices=("auto", "off", "kitty", "iterm", "sixel", "blocks"),
    )
    vi_mode: bool = setting(
        False, "edit the line with the keys of vi instead of Emacs", group="terminal", flags=("--vi",)
    )
    screen_reader: bool = setting(
        False, "whole labelled lines to be read aloud; nothing is redrawn", group="terminal"
    )
    notify: str = setting(
        "auto",
        "how the terminal tells that a turn of over 10 s is done, or asks, while you are away",
        group="terminal",
        choices=("auto", "off", "bell", "osc9", "osc99", "osc777"),
    )

    record: str = setting(
        "", "write the model's replies to a file", group="recording", metavar="FILE", in_files=False
    )
    replay: str = setting(
        "", "answer from such a file instead of a model", group="recording", metavar="FILE", in_files=False
    )
    replay_mode: str = setting(
        "strict",
        "a request that is not in the file: fails, is sent and added, or gets the next reply",
        group="recording",
        choices=("strict", "new", "sequence"),
        in_files=False,
    )

    origins: Mapping[str, str] = field(default_factory=dict, compare=False)

    def origin(self, name: str) -> str:
        """Where the value of a setting came from: "--model", "TERP_MODEL", "work.yaml:7", "built-in"."""
        return self.origins.get(name, BUILT_IN)


@dataclass(frozen=True)
class Given:
    """A value that somebody gave, and where."""

    value: Any
    origin: str


Layer = Mapping[str, Given]


def combine(layers: Sequence[Layer]) -> Settings:
    """Settings of several layers, the strongest first."""
    given: dict[str, Given] = {}
    for layer in layers:
        given = {**layer, **given}
    values = {name: one.value for name, one in given.items()}
    return Settings(**values, origins={name: one.origin for name, one in given.items()})
