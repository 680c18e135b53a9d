"""The places whose contents the code must not see, and those it must not change wherever it works."""

from collections.abc import Iterator, Mapping
from pathlib import Path

# Below the home directory: keys, passwords, tokens, cookies, and what people typed.
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
    .mozilla .thunderbird .config/google-chrome .config/chromium .config/BraveSoftware
    .config/microsoft-edge .config/vivaldi .config/opera snap/firefox snap/chromium
    .var/app/org.mozilla.firefox .var/app/com.google.Chrome
    Library/Keychains Library/Cookies Library/Safari Library/Mail Library/Messages Library/Jupyter/runtime
    Library/Application%20Support/Google/Chrome Library/Application%20Support/Firefox
    Library/Application%20Support/BraveSoftware Library/Application%20Support/Microsoft%20Edge
"""
# They are closed to others anyway, but not to root.
_OF_THE_SYSTEM = ("/etc/shadow", "/etc/shadow-", "/etc/gshadow", "/etc/gshadow-", "/etc/sudoers")

# What programs of the person obey later, outside: in a project, and in a home directory.
_OBEYED_IN_PROJECTS = (
    ".git/hooks", ".git/config", ".git/commondir", ".vscode", ".idea", ".terp", ".envrc",
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
    """The places with secrets, below a home directory and of the system; they need not exist."""
    for name in _SECRETS.split():
        yield home / name.replace("%20", " ")
    yield from map(Path, _OF_THE_SYSTEM)


def obeyed_in(folder: Path, home: Path) -> Iterator[Path]:
    """What the code must not change although it is below `folder`; it need not exist."""
    yield from (folder / name for name in _OBEYED_IN_PROJECTS)
    if (git := folder / ".git").is_file():
        # It names the repository of a work tree, with its hooks.
        yield git
    for name in _OBEYED_AT_HOME.split():
        if (place := home / name).is_relative_to(folder):
            yield place


def home_of(environ: Mapping[str, str]) -> Path:
    """The home directory that this environment names, else the one of the user."""
    named = environ.get("HOME", "")
    return Path(named) if named.startswith("/") else Path("~").expanduser()
