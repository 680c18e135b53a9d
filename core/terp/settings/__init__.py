"""The one table of settings: the fields of `Settings`, the first of which are in `model_settings`.

Flags, `TERP_…` variables, YAML keys and `--help` derive from it. A front end declares the options of a
single call (`--cwd`, `--file`) in the same form.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from terp.settings.mcp_servers import McpServer
from terp.settings.model_settings import ModelSettings
from terp.settings.setting import BY_CALL, BY_PROJECT, setting

BUILT_IN = "built-in"
DEFAULT_PROFILE = "default"


@dataclass(frozen=True)
class Settings(ModelSettings):
    """Every setting, with its built-in value. `origins` says where the other values came from.

    `profile` is the profile in effect, by name or path; what is spent counts for it. `by_project` names those
    that a project has brought. `rule_places` has the place of each rule of `allow`, `ask` and `deny`.
    """

    code: bool = setting(True, "the model may write code; otherwise it only answers", group="code")
    auto_run: bool = setting(False, "run code without asking", group="code", flags=("-y",))
    python: str = setting(
        "",
        "the Python that runs the code",
        group="code",
        metavar="PATH",
        unset="the active environment, else a trusted project's, else terp's own",
    )
    shell: str = setting(
        "",
        "the shell that runs shell code: a bash or a zsh",
        group="code",
        metavar="PATH",
        unset="bash, else the zsh of $SHELL",
    )
    references: bool = setting(
        False, "fill the value of a Python variable into an answer in place of {{name}}", group="code"
    )
    languages: tuple[str, ...] = setting(
        (),
        "the languages that code may be in, the default first",
        group="code",
        metavar="NAME,…",
        unset="all that this machine runs",
        sources=BY_PROJECT,
    )
    packages: tuple[str, ...] = setting(
        (),
        "packages to install before the first Python code runs",
        group="code",
        metavar="NAME,…",
    )
    auto_install: str = setting(
        "",
        "packages to install if code imports them: none, after a question, known ones, all",
        group="code",
        flags=("--auto-install",),
        choices=("never", "ask", "known", "always"),
        unset="ask; known with auto_run",
    )
    attach: str = setting(
        "",
        "use a running kernel: its connection file, id or notebook, or newest",
        group="code",
        metavar="FILE",
        unset="kernels that terp starts",
        sources=BY_CALL,
    )
    kernel_provisioner: str = setting(
        "",
        "the kernel provisioner of Jupyter that starts kernels of Python and of kernelspecs",
        group="code",
        metavar="NAME",
        unset="terp itself",
    )
    kernel_provisioner_config: Mapping[str, Any] = setting(
        {}, "configuration of the kernel provisioner", group="code", metavar="NAME=VALUE", free=True
    )
    run_timeout_s: float = setting(
        0.0,
        "seconds after which a run is interrupted",
        group="code",
        flags=("--run-timeout",),
        unit="s",
        unset="never",
        sources=BY_PROJECT,
    )
    background_after_s: float = setting(
        0.0,
        "seconds after which a run moves to the background, as with /bg",
        group="code",
        flags=("--background-after",),
        unit="s",
        unset="never",
        sources=BY_PROJECT,
    )
    until: str = setting(
        "",
        "repeat until this check passes: a shell command, or py: and a Python expression",
        group="code",
        metavar="CHECK",
        unset="no check",
        sources=BY_PROJECT,
    )
    max_revisions: int = setting(
        4,
        "how often the model is asked again after a failed check; for terp solve: number of solutions",
        group="code",
        unset="no limit",
        sources=BY_PROJECT,
    )
    until_timeout_s: float = setting(
        600.0, "seconds that one check may take", group="code", unit="s", unset="no limit", sources=BY_PROJECT
    )
    solve_timeout_s: float = setting(
        5.0, "seconds that one test of terp solve may take", group="code", unit="s", unset="no limit"
    )
    until_protect: tuple[str, ...] = setting(
        (),
        "patterns of more files that belong to a check; ! before one excludes its files",
        group="code",
        metavar="PATTERN,…",
        sources=BY_PROJECT,
    )
    env_pass: tuple[str, ...] = setting(
        (), "environment variables to pass to the code, besides harmless ones", group="code", metavar="NAME,…"
    )
    gateway_url: str = setting(
        "",
        "run code behind this Jupyter Server, Kernel Gateway or Enterprise Gateway",
        group="code",
        flags=("--gateway",),
        metavar="URL",
        unset="on this machine",
    )
    gateway_token_env: str = setting(
        "",
        "the variable that holds the gateway's token",
        group="code",
        metavar="VARIABLE",
        unset="JUPYTER_GATEWAY_AUTH_TOKEN, else JUPYTER_TOKEN",
    )
    gateway_token_file: str = setting(
        "", "the file that holds the gateway's token", group="code", metavar="FILE", unset="none"
    )
    gateway_keep: bool = setting(
        False, "keep kernels at the gateway running when the session ends; -c finds them again", group="code"
    )
    tools: tuple[str, ...] = setting(
        (), "files that declare tools: .py, .yaml, .json", group="code", metavar="FILE,…", are_paths=True
    )
    mcp_servers: Mapping[str, McpServer] = setting(
        {},
        "MCP servers, whose tools become functions in the Python kernel",
        group="code",
        each=McpServer,
        keys=r"[A-Za-z_][A-Za-z0-9_-]*",
    )
    search_provider: str = setting(
        "",
        "the provider of web searches",
        group="code",
        choices=("searxng", "brave", "tavily"),
        unset="the one whose key or address is set",
    )
    search_url: str = setting(
        "", "address of a SearXNG server, or of another provider", group="code", metavar="URL"
    )

    sandbox: str = setting(
        "auto",
        "the sandbox of the code; auto: if code runs without asking",
        group="safety",
        choices=("auto", "off", "workspace", "strict", "docker"),
    )
    sandbox_required: bool = setting(False, "run no code if no sandbox works", group="safety")
    network: bool = setting(
        True, "sandboxed code has the network; --no-net closes it", group="safety", flags=("--net",)
    )
    memory_limit_mb: int = setting(
        0, "memory of each process of the code", group="safety", unit="MB", unset="no limit"
    )
    max_processes: int = setting(
        0,
        "limit of your processes and threads while code runs; not for root",
        group="safety",
        unset="no limit",
    )
    max_file_mb: int = setting(
        0, "size of a file that the code writes", group="safety", unit="MB", unset="no limit"
    )
    docker_image: str = setting(
        "",
        "for docker: an image with Python and ipykernel",
        group="safety",
        metavar="IMAGE",
        unset="Jupyter's minimal-notebook",
    )

    allow: tuple[str, ...] = setting(
        (), "code that runs without asking", group="safety", kind="rules", metavar="RULE"
    )
    ask: tuple[str, ...] = setting(
        (),
        "code that is asked about, also with auto_run",
        group="safety",
        kind="rules",
        metavar="RULE",
        sources=BY_PROJECT,
    )
    deny: tuple[str, ...] = setting(
        (), "code that never runs", group="safety", kind="rules", metavar="RULE", sources=BY_PROJECT
    )

    theme: str = setting(
        "auto",
        "the background for which colours are chosen",
        group="terminal",
        choices=("auto", "dark", "light", "none"),
    )
    images: str = setting(
        "auto",
        "how pictures are drawn; their paths are shown in any case",
        group="terminal",
        choices=("auto", "off", "kitty", "iterm", "sixel", "blocks"),
    )
    vi_mode: bool = setting(
        False, "edit the line with the keys of vi instead of Emacs", group="terminal", flags=("--vi",)
    )
    screen_reader: bool = setting(
        False, "write whole labelled lines for a screen reader; redraw nothing", group="terminal"
    )
    notify: str = setting(
        "auto",
        "how to notify you of the end of a turn of over 10 s, or of a question, while you are away",
        group="terminal",
        choices=("auto", "off", "bell", "osc9", "osc99", "osc777"),
    )

    record: str = setting(
        "", "write the model's replies to a file", group="recording", metavar="FILE", sources=BY_CALL
    )
    replay: str = setting(
        "", "answer from such a file instead of a model", group="recording", metavar="FILE", sources=BY_CALL
    )
    replay_mode: str = setting(
        "strict",
        "what happens with a request that is not in the file: fail, ask and add, or next reply",
        group="recording",
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
