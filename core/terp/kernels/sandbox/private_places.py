"""Protected paths: secrets, configuration that other programs execute, git repositories; and their watch."""

import os
import re
import stat
from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from pathlib import Path

# Below the home directory: keys, passwords, tokens, cookies and histories.
_SECRETS = """
    .ssh .aws .gnupg .netrc .kube .config/gh .config/hub .docker .config/containers/auth.json .azure
    .config/gcloud .boto .s3cfg .config/rclone .oci .config/doctl .terraform.d/credentials.tfrc.json
    .vault-token .git-credentials .config/git/credentials .npmrc .pypirc .cargo/credentials
    .cargo/credentials.toml .gem/credentials .pgpass .my.cnf .config/op .password-store
    .local/share/keyrings .local/share/kwalletd .Xauthority .bash_history .zsh_history .python_history
    .local/share/fish/fish_history .local/share/atuin .psql_history .mysql_history .sqlite_history
    .node_repl_history .duckdb_history .lesshst .viminfo .local/share/jupyter/runtime
    .cache/huggingface/token .huggingface .kaggle .databrickscfg .config/io.datasette.llm .config/openai
    .codex/auth.json .claude .claude.json .gemini .local/share/opencode .config/github-copilot .mcp-auth
    .config/sops .config/age .terraformrc .pulumi .m2/settings.xml .gradle/gradle.properties
    .composer/auth.json .config/composer/auth.json .nuget .authinfo .authinfo.gpg .msmtprc .fetchmailrc
    .ngrok2 .config/ngrok .fly .config/stripe .config/heroku .config/netlify .vault_pass .electrum .bitcoin
    .ethereum .config/Bitwarden .config/keepassxc .config/Signal .config/Slack .config/discord
    .local/share/TelegramDesktop
    .ipython/profile_default/history.sqlite .zsh_sessions .histfile .streamlit/secrets.toml .dbt/profiles.yml
    .snowsql/config .config/pip/pip.conf .pip/pip.conf .jupyter/jupyter_server_config.json
    .jupyter/jupyter_server_config.py .jupyter/jupyter_notebook_config.json .config/configstore
    .config/gspread .cloudflared .vnc/passwd .purple .cursor .aider.conf.yml .config/Code/User/globalStorage
    .config/Cursor/User/globalStorage .config/google-chrome-beta .librewolf
    .mozilla .thunderbird .config/google-chrome .config/chromium .config/BraveSoftware
    .config/microsoft-edge .config/vivaldi .config/opera snap/firefox snap/chromium
    .var/app/org.mozilla.firefox .var/app/com.google.Chrome
    Library/Keychains Library/Cookies Library/Safari Library/Mail Library/Messages Library/Jupyter/runtime
    Library/Application%20Support/Google/Chrome Library/Application%20Support/Firefox
    Library/Application%20Support/BraveSoftware Library/Application%20Support/Microsoft%20Edge
"""
# Readable by root only; code may run as root.
_OF_THE_SYSTEM = ("/etc/shadow", "/etc/shadow-", "/etc/gshadow", "/etc/gshadow-", "/etc/sudoers")

# Files that other programs execute or trust later: in a project, and in a home directory.
_OBEYED_IN_PROJECTS = (
    ".git/hooks", ".git/config", ".git/config.worktree", ".git/commondir", ".git/info/attributes", ".husky",
    ".vscode", ".idea", ".terp", ".envrc", ".claude/settings.json", ".claude/settings.local.json",
    ".mcp.json",
)  # fmt: skip
# New ones of these run too: repositories with hooks of their own, commands of a rebase that goes on, start
# files of Python, bytecode in place of a module, and folders of programs.
_RUN_IN_PROJECTS = (
    ".git/modules", ".git/worktrees", ".git/rebase-merge", ".git/rebase-apply", ".git/sequencer",
    "sitecustomize.py", "usercustomize.py", "*.pth", "__pycache__", ".venv", "venv", "node_modules",
)  # fmt: skip
_OBEYED_AT_HOME = """
    .bashrc .bash_profile .bash_login .bash_logout .bash_aliases .profile .zshrc .zshenv .zprofile .zlogin
    .config/fish .config/autostart .config/systemd .config/git .gitconfig .tmux.conf .vimrc .config/nvim
    .inputrc .local/bin .local/share/applications Library/LaunchAgents
    .zlogout .config/zsh .xprofile .xinitrc .xsession .xsessionrc .pam_environment .config/environment.d
    .config/tmux .screenrc .vim .emacs .emacs.d .config/emacs .gdbinit .config/gdb .config/direnv .config/Code
    .config/kitty .config/alacritty .config/wezterm .wezterm.lua .ipython .jupyter
    .local/share/jupyter/kernels .Rprofile .config/pip .pip .config/uv .local/lib .local/pipx
    .local/share/pipx .local/share/uv bin
"""


def secrets_at(home: Path) -> Iterator[Path]:
    """Yield paths of secrets, in a home directory and of the system; they may not exist."""
    for name in _SECRETS.split():
        yield home / name.replace("%20", " ")
    yield from map(Path, _OF_THE_SYSTEM)


def obeyed_in(folder: Path, home: Path) -> Iterator[Path]:
    """Yield configuration paths below `folder` that code must not change; they may not exist."""
    yield from (folder / name for name in _OBEYED_IN_PROJECTS)
    if (git := folder / ".git").is_file():
        # In a work tree this file names the repository, with its hooks.
        yield git
    for name in _OBEYED_AT_HOME.split():
        if (place := home / name).is_relative_to(folder):
            yield place


def obeyed_pattern() -> str:
    """Return a regular expression for paths in a project, at any depth, that other programs execute or trust.

    A `.git` matches as a whole, because it can be moved there with its hooks; most of its files do not.
    Files that run by a command of their own, as a Makefile, are ordinary content of a project.
    """
    names = (re.escape(name).replace(r"\*", "[^/]*") for name in (*_OBEYED_IN_PROJECTS, *_RUN_IN_PROJECTS))
    return rf"(?:.*/)?(?:\.git|(?:{'|'.join(names)})(?:/.*)?)"


def home_of(environ: Mapping[str, str]) -> Path:
    """Return the home directory in this environment, else the user's."""
    named = environ.get("HOME", "")
    return Path(named) if named.startswith("/") else Path("~").expanduser()


OBEYED = ("hooks", "config", "config.worktree", "commondir", "info/attributes")
"""Files in a git folder whose content git runs or follows: `commondir` leads to hooks elsewhere."""

# A home directory contains a hundred thousand folders; projects lie near its top.
MOST_FOLDERS, _DEEPEST, _MOST_ENTRIES = 150, 3, 5_000
_PASSED_OVER = frozenset({"node_modules", "__pycache__", "site-packages"})


def repositories_in(folder: Path) -> list[Path]:
    """Return the git folders of `folder`, of its submodules, and of folders not far below it."""
    found: list[Path] = []
    for inside in islice(folders_in(folder), MOST_FOLDERS):
        if (git := inside / ".git").is_dir() and not git.is_symlink():
            found += [git, *_submodules(git)]
    return found


def _submodules(git: Path) -> Iterator[Path]:
    """Yield the repositories of submodules; their names may contain slashes."""
    for inside in islice(folders_in(git / "modules"), MOST_FOLDERS):
        if (inside / "HEAD").is_file():
            yield inside


def folders_in(top: Path) -> Iterator[Path]:
    """Yield the folder and three levels of subfolders, breadth first, without links and hidden ones."""
    waiting = deque([(top, 0)])
    while waiting:
        folder, depth = waiting.popleft()
        yield folder
        if depth < _DEEPEST:
            waiting.extend((below, depth + 1) for below in _below(folder))


def _below(folder: Path) -> list[Path]:
    try:
        with os.scandir(folder) as entries:
            return [
                Path(entry.path)
                for entry in islice(entries, _MOST_ENTRIES)
                if entry.is_dir(follow_symlinks=False)
                and entry.name not in _PASSED_OVER
                and not entry.name.startswith(".")
            ]
    except OSError:
        return []


# A folder of hooks has fifteen entries; code could create any number.
_MOST_WATCHED = 1_000
State = tuple[object, ...]


class ConfigWatch:
    """Detects changes to configuration files that other programs execute or trust.

    A sandbox cannot protect all of them: not a path that does not exist yet, nor a link; and Landlock cannot
    protect a file in a writable folder.
    """

    def __init__(self, paths: Iterable[str]) -> None:
        self._seen = {path: _state(path) for path in paths}

    def changed(self) -> list[str]:
        """Return the paths that changed since the start or the last call."""
        now = {path: _state(path) for path in self._seen}
        different = [path for path, state in now.items() if state != self._seen[path]]
        self._seen = now
        return different


def _state(path: str) -> State:
    """Return the state of a file, a link, or a folder with its direct entries; () if there is none."""
    try:
        found = os.lstat(path)
        if stat.S_ISLNK(found.st_mode):
            return ("link", os.readlink(path))  # noqa: PTH115  (a path is text here)
        if not stat.S_ISDIR(found.st_mode):
            return ("file", found.st_ino, found.st_size, found.st_mtime_ns, found.st_mode)
        with os.scandir(path) as entries:
            return (
                "folder",
                *sorted((entry.name, *_facts(entry)) for entry in islice(entries, _MOST_WATCHED)),
            )
    except OSError:
        return ()


def _facts(entry: "os.DirEntry[str]") -> tuple[int, int, int]:
    found = entry.stat(follow_symlinks=False)
    return found.st_ino, found.st_size, found.st_mtime_ns
