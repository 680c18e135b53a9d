"""The one table of settings: the fields of `Settings`, the first of which are in `model_settings`.

Flags, `TERP_…` variables, YAML keys and `--help` derive from it. A front end declares the options of a
single call (`--cwd`, `--file`) in the same form.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from terp.settings.mcp_servers import McpServer
from terp.settings.model_settings import ModelSettings
from terp.settings.setting import BY_CALL, BY_PROJECT, T, setting
from terp.text.dataclasses import dataclass, field

BUILT_IN = "built-in"
DEFAULT_PROFILE = "default"


APPROVALS = ("before", "effect", "never")
"""The values of `approve`, the strictest first."""


def code_setting(default: T, about: str, **facts: Any) -> T:
    """Declare a setting of the group `code`; see `setting`."""
    return setting(default, about, group="code", **facts)


def safety_setting(default: T, about: str, **facts: Any) -> T:
    """Declare a setting of the group `safety`; see `setting`."""
    return setting(default, about, group="safety", **facts)


def terminal_setting(default: T, about: str, **facts: Any) -> T:
    """Declare a setting of the group `terminal`; see `setting`."""
    return setting(default, about, group="terminal", **facts)


def recording_setting(default: T, about: str, **facts: Any) -> T:
    """Declare a setting of the group `recording`; see `setting`."""
    return setting(default, about, group="recording", **facts)


@dataclass(frozen=True, slots=True)
class Settings(ModelSettings):
    """Every setting, with its built-in value. `origins` says where the other values came from.

    `profile` is the profile in effect, by name or path; what is spent counts for it. `by_project` names those
    that a project has brought. `rule_places` has the place of each rule of `allow`, `ask` and `deny`.
    """

    code: bool = code_setting(True, "the model may write code; otherwise it only answers")
    auto_run: bool = code_setting(False, "run code without asking", flags=("-y",))
    approve: str = code_setting(
        "before",
        "when you are asked: before code runs, or at each effect of it",
        choices=APPROVALS,
        sources=BY_PROJECT,
    )
    python: str = code_setting(
        "",
        "the Python that runs the code",
        metavar="PATH",
        unset="the active environment, else a trusted project's, else terp's own",
    )
    shell: str = code_setting(
        "",
        "the shell that runs shell code: a bash or a zsh",
        metavar="PATH",
        unset="bash, else the zsh of $SHELL",
    )
    references: bool = code_setting(
        False, "fill the value of a Python variable into an answer in place of {{name}}"
    )
    languages: tuple[str, ...] = code_setting(
        (),
        "the languages that code may be in, the default first",
        metavar="NAME,…",
        unset="all that this machine runs",
        sources=BY_PROJECT,
    )
    packages: tuple[str, ...] = code_setting(
        (), "packages to install before the first Python code runs", metavar="NAME,…"
    )
    auto_install: str = code_setting(
        "",
        "packages to install if code imports them: none, after a question, known ones, all",
        flags=("--auto-install",),
        choices=("never", "ask", "known", "always"),
        unset="ask; known with auto_run",
    )
    attach: str = code_setting(
        "",
        "use a running kernel: its connection file, id or notebook, or newest",
        metavar="FILE",
        unset="kernels that terp starts",
        sources=BY_CALL,
    )
    kernel_provisioner: str = code_setting(
        "",
        "the kernel provisioner of Jupyter that starts kernels of Python and of kernelspecs",
        metavar="NAME",
        unset="terp itself",
    )
    kernel_provisioner_config: Mapping[str, Any] = code_setting(
        {}, "configuration of the kernel provisioner", metavar="NAME=VALUE", free=True
    )
    run_timeout_s: float = code_setting(
        0.0,
        "seconds after which a run is interrupted",
        flags=("--run-timeout",),
        unit="s",
        unset="never",
        sources=BY_PROJECT,
    )
    background_after_s: float = code_setting(
        0.0,
        "seconds after which a run moves to the background, as with /bg",
        flags=("--background-after",),
        unit="s",
        unset="never",
        sources=BY_PROJECT,
    )
    until: str = code_setting(
        "",
        "repeat until this check passes: a shell command, or py: and a Python expression",
        metavar="CHECK",
        unset="no check",
        sources=BY_PROJECT,
    )
    max_revisions: int = code_setting(
        4,
        "how often the model is asked again after a failed check; for terp solve: number of solutions",
        unset="no limit",
        sources=BY_PROJECT,
    )
    watch: str = code_setting(
        "",
        "conditions on variables, one on each line: a turn stops when a run breaks one",
        flags=("--watch-condition",),
        metavar="CONDITION",
        unset="nothing",
    )
    until_timeout_s: float = code_setting(
        600.0, "seconds that one check may take", unit="s", unset="no limit", sources=BY_PROJECT
    )
    solve_timeout_s: float = code_setting(
        5.0, "seconds that one test of terp solve may take", unit="s", unset="no limit"
    )
    until_protect: tuple[str, ...] = code_setting(
        (),
        "patterns of more files that belong to a check; ! before one excludes its files",
        metavar="PATTERN,…",
        sources=BY_PROJECT,
    )
    env_pass: tuple[str, ...] = code_setting(
        (), "environment variables to pass to the code, besides harmless ones", metavar="NAME,…"
    )
    gateway_url: str = code_setting(
        "",
        "run code behind this Jupyter Server, Kernel Gateway or Enterprise Gateway",
        flags=("--gateway",),
        metavar="URL",
        unset="on this machine",
    )
    gateway_token_env: str = code_setting(
        "",
        "the variable that holds the gateway's token",
        metavar="VARIABLE",
        unset="JUPYTER_GATEWAY_AUTH_TOKEN, else JUPYTER_TOKEN",
    )
    gateway_token_file: str = code_setting(
        "", "the file that holds the gateway's token", metavar="FILE", unset="none"
    )
    gateway_keep: bool = code_setting(
        False, "keep kernels at the gateway running when the session ends; -c finds them again"
    )
    tools: tuple[str, ...] = code_setting(
        (), "files that declare tools: .py, .yaml, .json", metavar="FILE,…", are_paths=True
    )
    mcp_servers: Mapping[str, McpServer] = code_setting(
        {},
        "MCP servers, whose tools become functions in the Python kernel",
        each=McpServer,
        keys=r"[A-Za-z_][A-Za-z0-9_-]*",
    )
    search_provider: str = code_setting(
        "",
        "the provider of web searches",
        choices=("searxng", "brave", "tavily"),
        unset="the one whose key or address is set",
    )
    search_url: str = code_setting("", "address of a SearXNG server, or of another provider", metavar="URL")

    sandbox: str = safety_setting(
        "auto",
        "the sandbox of the code; auto: if code runs without asking",
        choices=("auto", "off", "workspace", "strict", "docker"),
    )
    sandbox_required: bool = safety_setting(False, "run no code if no sandbox works")
    network: bool = safety_setting(
        True, "sandboxed code has the network; --no-net closes it", flags=("--net",)
    )
    memory_limit_mb: int = safety_setting(
        0, "memory of each process of the code", unit="MB", unset="no limit"
    )
    max_processes: int = safety_setting(
        0, "limit of all your processes and threads for code; no effect for root", unset="no limit"
    )
    max_file_mb: int = safety_setting(0, "size of a file that the code writes", unit="MB", unset="no limit")
    docker_image: str = safety_setting(
        "",
        "for docker: an image with Python and ipykernel",
        metavar="IMAGE",
        unset="Jupyter's minimal-notebook",
    )

    allow: tuple[str, ...] = safety_setting(
        (), "rules for code that runs without asking", kind="rules", metavar="RULE"
    )
    ask: tuple[str, ...] = safety_setting(
        (),
        "rules for code that needs approval, even with auto_run",
        kind="rules",
        metavar="RULE",
        sources=BY_PROJECT,
    )
    deny: tuple[str, ...] = safety_setting(
        (), "rules for code that never runs", kind="rules", metavar="RULE", sources=BY_PROJECT
    )

    theme: str = terminal_setting(
        "auto", "the background for which colours are chosen", choices=("auto", "dark", "light", "none")
    )
    images: str = terminal_setting(
        "auto",
        "how pictures are drawn; their paths are shown in any case",
        choices=("auto", "off", "kitty", "iterm", "sixel", "blocks"),
    )
    vi_mode: bool = terminal_setting(
        False, "edit the line with the keys of vi instead of Emacs", flags=("--vi",)
    )
    screen_reader: bool = terminal_setting(
        False, "write whole labelled lines for a screen reader; redraw nothing"
    )
    titles: str = terminal_setting(
        "auto",
        "titles of sessions: by the model if it is local or at most 0.1 cent, else your first words",
        choices=("auto", "off"),
    )
    notify: str = terminal_setting(
        "auto",
        "how to notify you of the end of a turn of over 10 s, or of a question, while you are away",
        choices=("auto", "off", "bell", "osc9", "osc99", "osc777"),
    )

    record: str = recording_setting(
        "", "write the model's replies to a file", metavar="FILE", sources=BY_CALL
    )
    replay: str = recording_setting(
        "", "answer from a recorded file instead of a model", metavar="FILE", sources=BY_CALL
    )
    replay_mode: str = recording_setting(
        "strict",
        "what happens with a request that is not in the file: fail, ask and add, or next reply",
        choices=("strict", "new", "sequence"),
        sources=BY_CALL,
    )

    profile: str = field(default=DEFAULT_PROFILE, compare=False)
    origins: Mapping[str, str] = field(default_factory=dict, compare=False)
    by_project: frozenset[str] = field(default_factory=frozenset, compare=False)
    rule_places: Mapping[str, Sequence[str]] = field(default_factory=dict, compare=False)

    def origin(self, name: str) -> str:
        """Return the source of a setting's value: "--model", "TERP_MODEL", "work.yaml:7", "built-in"."""
        return self.origins.get(name, BUILT_IN)
