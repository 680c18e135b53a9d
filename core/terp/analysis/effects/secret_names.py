"""Files and environment variables that hold keys, recognised by their names."""

import re
from fnmatch import fnmatchcase

_FOLDERS = (
    r"\.ssh|\.aws|\.gnupg|\.kube|\.azure|\.docker|\.password-store|\.mozilla|\.thunderbird|\.terp"
    r"|\.config/(?:gh|gcloud|terp|google-chrome|chromium|BraveSoftware|op|rclone)"
    r"|\.local/state/terp|\.local/share/keyrings|Library/Keychains|Library/Application Support/Google/Chrome"
)
_FILES = (
    r"\.netrc|_netrc|\.pgpass|\.my\.cnf|\.npmrc|\.pypirc|\.git-credentials|\.vault-token|\.htpasswd"
    r"|\.s3cfg|\.boto|\.databrickscfg|id_(?:rsa|dsa|ecdsa|ed25519)|\.bash_history|\.zsh_history|kubeconfig"
)
# Of these a sentence may speak without meaning a file.
_ALONE = r"\.env(?:\.\w+)?|[\w.*?-]*\.(?:pem|p12|pfx|key)|[\w.-]*credentials(?:\.\w+)?|secrets?\.\w+"
_ABSOLUTE = r"/etc/g?shadow|/etc/sudoers|/proc/(?:self|\d+|\*)/environ|/proc/(?:self|\d+)/mem"
_START, _END = r"(?:^|(?<=[\s/'\"=:@~]))", r"(?=$|[\s/'\";:,)])"
_STRONG = re.compile(f"(?:{_START}(?:{_FOLDERS}|{_FILES}){_END})|(?:{_ABSOLUTE})")
_WEAK = re.compile(f"{_START}(?:{_ALONE})$")
# For patterns: what they may stand for.
_NAMES = str.split(
    """
    .ssh .aws .gnupg .kube .azure .docker .password-store .mozilla .netrc .pgpass .npmrc .pypirc
    .git-credentials .vault-token .env id_rsa id_dsa id_ecdsa id_ed25519 shadow
    gshadow credentials kubeconfig environ
    """
)
_PATTERN = re.compile(r"(?=[^*?\[]*[*?\[])(?=[^/]*/)[\w~./*?\[\]-]+")
_OPEN = re.compile(r"\[[^]]*\]|[*?]")
# What every such name has: most texts have none of it.
_MARK = re.compile(r"[./_~]|kubeconfig|credentials")
_VARIABLE = re.compile(
    r"(?:^|_)(?:KEY|TOKEN|SECRET|PASSWORD|PASSWD|PASSPHRASE|PASS|PWD|PAT|CREDENTIAL|AUTH|PRIVATE|DSN)(?:$|_|S$)"
    r"|APIKEY|(?:TOKEN|SECRET|PASSWORD|PASSWD|PASSPHRASE|AUTHORIZATION|CREDENTIALS?)$|DATABASE_URL|CONN(?:ECTION)?_STR"
)
# It says where or what a secret is.
_BESIDE = re.compile(r"_(?:FILE|PATH|DIR|SOCK|HOST|PORT|USER|NAME|TYPE|METHOD)$")
_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
# Longer ones are text; looking for paths in them would only find what is spoken of.
_LONGEST, _LONGEST_NAME = 2_000, 200


def secret_in(text: str) -> str:
    """Return the path of a secret that `text` names; "" for none."""
    if len(text) > _LONGEST or not _MARK.search(text):
        return ""
    found = _STRONG.search(text)
    if found is None:
        is_name = len(text) < _LONGEST_NAME and " " not in text
        return text if is_name and (_WEAK.search(text) or _may_find_secrets(text)) else ""
    start = max(text.rfind(end, 0, found.start()) for end in " \t\n'\"=;@") + 1
    ends = [at for end in " \t\n'\";),:" if (at := text.find(end, found.end())) >= 0]
    return text[start : min(ends, default=len(text))]


def _may_find_secrets(text: str) -> bool:
    return _PATTERN.fullmatch(text) is not None and any(map(_finds_secrets, text.split("/")))


def _finds_secrets(pattern: str) -> bool:
    """Return True if a part of a path is a pattern, other than `*`, that a secret's name matches."""
    said = _OPEN.sub("", pattern)
    return said != pattern and len(said) > 1 and any(fnmatchcase(name, pattern) for name in _NAMES)


def is_secret_name(name: str) -> bool:
    """Return True if a variable of this name, of code or of an environment, may hold a key or a password."""
    words = _HUMP.sub("_", name).upper()
    # The working directory has that name.
    return name != "PWD" and _VARIABLE.search(words) is not None and not _BESIDE.search(words)
