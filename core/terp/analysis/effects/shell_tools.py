"""The command line tools that are known, and how their operands are told from their options."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Tool:
    """What is read of a tool's arguments.

    `values` are the letters of options that take the next word; `skip` operands come before the files
    (a pattern, a filter). `options`, where given, are all that are known to be harmless, as letters and long
    names: another one, or a word that may become one, is not.
    """

    values: str = ""
    skip: int = 0
    options: str | None = None
    files: bool = True


_NO_FILES = Tool(files=False)

READERS: dict[str, Tool] = {
    **dict.fromkeys(
        str.split("""
            echo true false : test [ pwd cd type which whereis sleep wait seq expr uname whoami id
            uptime free nproc lscpu lsb_release arch groups basename dirname realpath read exit
            return break continue local unset tput cal bc df lsblk ps pgrep getconf locale tty users
            who w vmstat shift umask nvidia-smi clear for
        """),
        _NO_FILES,
    ),
    **{
        name: Tool()
        for name in str.split("""
                ls cat tac nl rev stat readlink md5sum sha1sum sha256sum sha512sum b2sum cksum
                strings zcat bzcat xzcat comm cmp paste fold fmt expand unexpand
            """)
    },
    # `jobs -x` runs what follows.
    "jobs": Tool(options="lnprs", files=False),
    "file": Tool(options="biL0 brief mime mime-type"),
    "iconv": Tool("ft", options="ftclt from-code to-code list"),
    "head": Tool("nc"),
    "tail": Tool("nc"),
    "wc": Tool(),
    "cut": Tool("dfbc"),
    "tr": _NO_FILES,
    "du": Tool("d"),
    "od": Tool("AtjN"),
    "hexdump": Tool("ns"),
    "column": Tool("stc"),
    "join": Tool("tj12aoe"),
    "diff": Tool(
        "IU",
        options="""
        uqrbBiwNacyU color brief recursive unified side-by-side ignore-all-space
    """,
    ),
    "grep": Tool("mABC", skip=1),
    "egrep": Tool("mABC", skip=1),
    "fgrep": Tool("mABC", skip=1),
    "zgrep": Tool("mABC", skip=1),
    "rg": Tool(
        "gtABCm",
        1,
        """
            giltnvwcABCmSFHNoPuU files hidden no-ignore count type glob json stats no-heading
        """,
    ),
    "sort": Tool(
        "tk",
        options="""
        bdfgihMnRrVcuskt numeric-sort reverse unique human-numeric-sort key stable
    """,
    ),
    "tree": Tool("LIP", options="adfLIPpshDCF dirsfirst du"),
    "shasum": Tool("a"),
}

WRITERS: dict[str, Tool] = {
    "mkdir": Tool("m"),
    "touch": Tool("dtr"),
    "tee": Tool(),
    "truncate": Tool("sr"),
    "mktemp": Tool("p"),
    "chmod": Tool(skip=1),
    "chown": Tool(skip=1),
    "chgrp": Tool(skip=1),
    "patch": Tool("pid"),
    "zip": Tool("xi", options="rqj0123456789xi"),
    "gzip": Tool(),
    "gunzip": Tool(),
    "bzip2": Tool(),
    "xz": Tool(),
    "unxz": Tool(),
}
DELETERS: dict[str, Tool] = {
    "rm": Tool(),
    "rmdir": Tool(),
    "unlink": Tool(),
    "shred": Tool("ns"),
}
NETWORK = frozenset(
    str.split("""
        curl wget ssh scp sftp rsync ftp nc ncat netcat telnet ping ping6 dig nslookup host whois
        traceroute gh hub aws gcloud gsutil az kubectl helm terraform docker podman http https aria2c
        yt-dlp lynx w3m mail sendmail mosh rclone s3cmd heroku vercel netlify fly
    """)
)
# For each: the words that install, and those that only look something up.
INSTALLERS: dict[str, tuple[str, str]] = {
    "pip": ("install download wheel", "list show freeze check --version"),
    "pip3": ("install download wheel", "list show freeze check --version"),
    "uv": ("add sync lock run", "--version"),
    "uv pip": ("install sync", "list show freeze check tree"),
    "uv tool": ("install run upgrade", "list dir"),
    "uv python": ("install upgrade", "list find dir"),
    "conda": ("install create update", "list info --version"),
    "mamba": ("install create update", "list info --version"),
    "npm": ("install i ci add update exec init", "list ls --version -v"),
    "yarn": ("install add upgrade", "list --version"),
    "pnpm": ("install add update", "list --version"),
    "apt": ("install upgrade update full-upgrade dist-upgrade", "list show search"),
    "apt-get": ("install upgrade update dist-upgrade", ""),
    "brew": ("install upgrade update", "list info --version"),
    "cargo": ("install add", "--version tree"),
    "gem": ("install update", "list --version"),
    "go": ("install get", "version env"),
    "dnf": ("install upgrade update", "list info"),
    "yum": ("install upgrade update", "list info"),
    "apk": ("add upgrade update", "info list"),
    "pacman": ("-S -Sy -Syu", "-Q -Qi -Ss"),
    "pipx": ("install upgrade", "list"),
    "poetry": ("add install update", "show --version"),
}
# They run what they are given; what that is, is looked at as well.
WRAPPERS = frozenset(
    str.split("""
        sudo doas su env xargs bash sh zsh dash ksh fish eval exec command builtin source . parallel watch
        script setsid chroot ssh-agent strace ltrace stdbuf unbuffer flock caffeinate systemd-run
    """)
)
TRANSPARENT = {"time": 0, "pty": 0, "nohup": 0, "nice": 0, "ionice": 0, "timeout": 1}

# Subcommands of git: those that only look, those that run hooks of the repository, the rest that write.
GIT_READS = frozenset(
    str.split("""
        status log diff show blame shortlog describe rev-parse ls-files ls-tree cat-file reflog
        whatchanged grep name-rev merge-base rev-list for-each-ref count-objects version --version help
    """)
)
GIT_NETWORK = frozenset(str.split("push pull fetch clone ls-remote submodule remote-https lfs"))
GIT_WRITES = frozenset(
    str.split("""
        add commit checkout switch restore reset merge rebase cherry-pick revert stash tag branch init mv
        apply am config worktree remote gc notes reflog
    """)
)
GIT_HOOKS = frozenset(
    str.split("""
    push pull commit checkout switch merge rebase cherry-pick revert am clone
""")
)
# Without operands these only list.
GIT_LISTS = frozenset(str.split("branch tag remote worktree reflog"))
