"""The settings that clients read and change, by the protocol's names."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from terp.settings import Settings
from terp.settings.setting import table
from terp.text.dataclasses import dataclass, replace
from terp_cli.server.opening import ORIGIN

_TOP = {
    "system_message": "system_message",
    "custom_instructions": "instructions",
    "max_output": "max_output_chars",
}
_LLM = {
    "model": "model",
    "temperature": "temperature",
    "max_tokens": "max_tokens",
    "context_window": "context_window",
    "supports_vision": "supports_vision",
    "supports_functions": "supports_tools",
}
# Where words and keys go is not for clients to say.
_REFUSED = frozenset({"api_base", "api_key", "api_version", "max_budget"})
# What these stood for is not here, or is always so: they are kept for who reads them back.
_WITHOUT_EFFECT: Mapping[str, Any] = {
    "contribute_conversation": False,
    "conversation_history": True,
    "debug": False,
    "disable_telemetry": True,
    "highlight_active_line": True,
    "in_terminal_interface": False,
    "loop": False,
    "multi_line": False,
    "offline": False,
    "os": False,
    "plain_text_display": False,
    "safe_mode": "off",
    "shrink_images": True,
    "speak_messages": False,
    "verbose": False,
}
_COMPUTER: Mapping[str, Any] = {
    "emit_images": True,
    "import_computer_api": False,
    "import_skills": False,
    "offline": False,
    "verbose": False,
}
_GROUPS = ("llm", "computer")
# As many refused settings are named in an answer.
_NAMED = 5


class Rejected(Exception):
    """A setting cannot be read or changed; `status` is the HTTP status of the answer.

    `applied` are the settings of the same request that were changed.
    """

    def __init__(self, status: int, message: str, applied: Sequence[str] = ()) -> None:
        super().__init__(message)
        self.status = status
        self.applied = applied


class ClientSettings:
    """The current settings of the conversation; they begin as those that the server was `started` with.

    With `unsafe`, clients may let code run without approval. `name` is the server's `id`, "" without one.
    """

    def __init__(self, started: Settings, *, unsafe: bool, name: str = "") -> None:
        # The protocol has no question at an effect: code waits for its `go` instead.
        self.settings = replace(started, approve="before") if started.approve == "effect" else started
        self.may_run_unasked = unsafe or started.auto_run
        self.kept = dict(_WITHOUT_EFFECT)
        self.name = name
        self.computer = dict(_COMPUTER)

    def read(self, name: str) -> Any:
        """Return the value of a setting.

        Raises:
            Rejected: there is no such setting, or JSON cannot hold its value.
        """
        if name in _GROUPS:
            raise Rejected(500, "Failed to serialize the setting value")
        if name == "id" and self.name:
            return self.name
        if name == "auto_run":
            return self.settings.auto_run
        if name in _TOP:
            return getattr(self.settings, _TOP[name])
        if name not in self.kept:
            raise Rejected(404, "Setting not found")
        return self.kept[name]

    def change(self, sent: Mapping[str, Any]) -> None:
        """Change settings to the sent values, all that are valid.

        Raises:
            Rejected: settings are unknown, not for clients, or invalid; `applied` has the others.
        """
        applied: list[str] = []
        refused: list[Rejected] = []
        for group, name, value in _each(sent):
            try:
                self._set(group, name, value)
            except Rejected as rejected:
                refused.append(rejected)
            else:
                applied.append(f"{group}.{name}" if group else name)
        if refused:
            named = [str(one) for one in refused[:_NAMED]]
            more = [f"{len(refused) - _NAMED} more are refused."] if len(refused) > _NAMED else []
            raise Rejected(refused[0].status, " ".join([*named, *more]), applied)

    def _set(self, group: str, name: str, value: Any) -> None:
        if not group and name in _GROUPS:
            raise Rejected(422, f"{name} must be an object with sub-settings.")
        if group == "llm":
            self._set_llm(name, value)
        elif group:
            if name not in self.computer:
                raise Rejected(404, f"Sub-setting {name[:80]} not found in {group}")
            self.computer[name] = value
        elif name == "auto_run":
            if value is True and not self.may_run_unasked:
                raise Rejected(
                    403, "auto_run over the wire needs a server that was started with --compat-unsafe."
                )
            self.settings = with_value(self.settings, "auto_run", value, "auto_run")
        elif name in _TOP:
            self.settings = with_value(self.settings, _TOP[name], value, name)
        elif name in self.kept:
            self.kept[name] = value
        else:
            raise Rejected(404, f"Setting {name[:80]} not found")

    def _set_llm(self, name: str, value: Any) -> None:
        if name in _REFUSED:
            raise Rejected(403, f"llm.{name} cannot be changed: it was set when the server was started.")
        if name not in _LLM:
            raise Rejected(404, f"Sub-setting {name[:80]} not found in llm")
        self.settings = with_value(self.settings, _LLM[name], value, f"llm.{name}")


def with_value(settings: Settings, name: str, value: Any, label: str) -> Settings:
    """Return the settings with one changed, which clients call `label`; None is its default.

    Raises:
        Rejected: the value is invalid.
    """
    row = table(Settings)[name]
    try:
        checked = row.default if value is None else row.checked(value)
    except ValueError:
        raise Rejected(422, f"{label} must be {row.rule}.") from None
    return replace(settings, **{name: checked}, origins={**settings.origins, name: ORIGIN})


def _each(sent: Mapping[str, Any]) -> Iterator[tuple[str, str, Any]]:
    """Yield each setting with its group, "" for none."""
    for name, value in sent.items():
        if name in _GROUPS and isinstance(value, Mapping):
            yield from ((name, below, one) for below, one in value.items())
        else:
            yield "", name, value


PORT = "INTERPRETER_PORT"


@dataclass(frozen=True)
class Variables:
    """The protocol's environment variables, read at each use: programs set them while the server runs."""

    environ: Mapping[str, str]

    @property
    def host(self) -> str:
        """The address to listen on; "" if the variable is not set."""
        return self.environ.get("INTERPRETER_HOST", "")

    @property
    def port(self) -> str:
        """The port, as text."""
        return self.environ.get(PORT, "")

    @property
    def key(self) -> str:
        """The key that clients must send; "" if any value is accepted."""
        return self.environ.get("INTERPRETER_API_KEY", "")

    @property
    def requires_auth(self) -> bool | None:
        """True if a WebSocket must send its key first; None if the variable is not set."""
        said = self.environ.get("INTERPRETER_REQUIRE_AUTH")
        return None if said is None else said != "False"

    @property
    def acknowledges(self) -> bool:
        """True if each frame is repeated until the client acknowledges it."""
        return self.environ.get("INTERPRETER_REQUIRE_ACKNOWLEDGE", "").lower() == "true"

    @property
    def has_insecure_routes(self) -> bool:
        """True if `/run`, `/upload` and `/download` are enabled."""
        return self.environ.get("INTERPRETER_INSECURE_ROUTES", "").lower() == "true"

    @property
    def id(self) -> str:
        """The name of the server; "" if it has none."""
        return self.environ.get("INTERPRETER_ID", "")
