"""The canaries: secrets of every kind that terp can come across, and where each comes from."""

import base64
from dataclasses import dataclass
from typing import Literal

From = Literal["environment", "kept", "keyring", "flag", "settings", "text"]


@dataclass(frozen=True)
class Canary:
    """A secret, and the parts of it that must be found nowhere.

    `source` is where it comes from, `name` its variable or provider. `said` is how it stands in a text.
    """

    name: str
    source: From
    value: str
    said: str = ""
    parts: tuple[str, ...] = ()

    @property
    def text(self) -> str:
        return self.said or self.value

    @property
    def sought(self) -> tuple[str, ...]:
        return self.parts or (self.value,)


_BLOCK = "MIICanaryOfAPrivateKey7pXz", "q2Rw8TbVnCanaryLine2Qv5J"
_OPENAI = "canary-openai-7Qm2xT9bLw4k"
_TOKEN = "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJjYW5hcnktMSJ9.c2lnbmF0dXJlLWNhbmFyeQ"
_AMAZON = "wJalrCanaryFEMI/K7MDENGbPxRfiCYEXAMPLE40"
_WRAPPED = base64.b64encode(f"user:{_OPENAI}\n".encode()).decode()

CANARIES = (
    Canary("OPENAI_API_KEY", "environment", _OPENAI),
    Canary("ANTHROPIC_API_KEY", "environment", "canary-anthropic-3Hs8vN1cRz6d"),
    Canary("TERP_SERVER_TOKEN", "environment", "canary-server-5Yk0uJ2fGq8s"),
    Canary("AWS_SECRET_ACCESS_KEY", "environment", "canary/amazon+9Bd4eW7hMx1v"),
    Canary("DB_PASSWORD", "environment", "canary-split-6Tn3iP8jKy2w"),
    Canary("MY_LLM_CREDENTIAL", "environment", "canary-credential-2Gk8sL4vQn1x"),
    Canary("SENTRY_DSN", "environment", "https://canary-dsn-5Wr9eC3hPy7b@o1.sentry.example/42"),
    Canary(
        "AZURE_STORAGE_CONNECTION_STRING",
        "environment",
        "AccountName=me;AccountKey=canary-azure-6Bt0mJ8uZf2d==;EndpointSuffix=net",
        parts=("canary-azure-6Bt0mJ8uZf2d",),
    ),
    Canary(
        "HTTPS_PROXY",
        "environment",
        "canary-proxy-8Fc5oA4lUb7e",
        "http://me:canary-proxy-8Fc5oA4lUb7e@127.0.0.1:9",
    ),
    Canary("NOTES_LOGIN", "environment", "canary-header-2Vr6yD9mSi3g"),
    Canary("mistral", "kept", "canary-kept-4Lx1zE5nOj0h"),
    Canary("openrouter", "keyring", "canary-keyring-1Pw9aF6qHt5k"),
    Canary("--api-key", "flag", "canary-flag-0Mu7cG3rXe8n"),
    Canary("NOTES_PASSWORD", "settings", "canary-server-env-7Iy2dK4tZo9p"),
    Canary("sk", "text", "sk-proj-Canary0123456789AbCdEfGh", parts=("Canary0123456789",)),
    Canary("ghp", "text", "ghp_Canary1abcdefghijklmnopqrstuvwxyz0", parts=("Canary1abcdefghij",)),
    Canary("github_pat", "text", "github_pat_Canary2ABCDEFGHIJ_klmnopqrst", parts=("Canary2ABCDEFGHIJ",)),
    Canary("AKIA", "text", "AKIACANARY3ABCDEFGHI", parts=("CANARY3ABCDEFGHI",)),
    Canary("aws_secret", "text", _AMAZON, f"aws_secret_access_key = {_AMAZON}", ("wJalrCanaryFEMI",)),
    Canary("xoxb", "text", "xoxb-1234567890-CanarySlackBot4", parts=("CanarySlackBot4",)),
    Canary("jwt", "text", _TOKEN, parts=("eyJzdWIiOiJjYW5hcnktMSJ9", "c2lnbmF0dXJlLWNhbmFyeQ")),
    Canary("bearer", "text", "CanaryBearer5.abcdefgh", "Authorization: Bearer CanaryBearer5.abcdefgh"),
    Canary("url", "text", "CanaryOfAnAddress6", "postgres://me:CanaryOfAnAddress6@db.example/x"),
    Canary("AIza", "text", "AIzaCanary7_abcdefghijklmnopqrstuvwxyz0", parts=("Canary7_abcdefghij",)),
    Canary(
        "webhook",
        "text",
        "https://hooks.slack.com/services/T000/B000/Canary8Webhook",
        parts=("Canary8Webhook",),
    ),
    Canary(
        "pem",
        "text",
        f"-----BEGIN PRIVATE KEY-----\n{_BLOCK[0]}\n{_BLOCK[1]}\n-----END PRIVATE KEY-----",
        parts=_BLOCK,
    ),
    Canary("base64", "text", _WRAPPED, parts=(_WRAPPED[8:24], _WRAPPED[20:36])),
)


def of(*sources: From) -> tuple[Canary, ...]:
    """Those that come from there."""
    return tuple(canary for canary in CANARIES if canary.source in sources)
