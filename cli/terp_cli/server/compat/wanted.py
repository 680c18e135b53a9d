"""The settings that clients read and change, by the protocol's names."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from terp.setting import table
from terp.settings import Settings
from terp_cli.server.wishes import ORIGIN

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


class Rejected(Exception):
    """A setting cannot be read or changed; `status` is the HTTP status that says why."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status


class Wanted:
    """The settings with which the conversation goes on, from those that the server was `started` with.

    With `unsafe` clients may let code run unasked.
    """

    def __init__(self, started: Settings, *, unsafe: bool) -> None:
        self.settings = started
        self.may_run_unasked = unsafe or started.auto_run
        self.kept = dict(_WITHOUT_EFFECT)
        self.computer = dict(_COMPUTER)

    def read(self, name: str) -> Any:
        """The value of a setting.

        Raises:
            Rejected: there is none, or it is no value that JSON has.
        """
        if name in _GROUPS:
            raise Rejected(500, "Failed to serialize the setting value")
        if name == "auto_run":
            return self.settings.auto_run
        if name in _TOP:
            return getattr(self.settings, _TOP[name])
        if name not in self.kept:
            raise Rejected(404, "Setting not found")
        return self.kept[name]

    def change(self, sent: Mapping[str, Any]) -> None:
        """Take all that is sent, or nothing of it.

        Raises:
            Rejected: a setting is unknown, not for clients, or has a wrong value.
        """
        changed, kept, computer = self.settings, dict(self.kept), dict(self.computer)
        for name, value in sent.items():
            if name == "llm":
                changed = self._with_llm(changed, _group(name, value))
            elif name == "computer":
                computer.update(_known(_group(name, value), computer, name))
            elif name == "auto_run":
                changed = self._with_auto_run(changed, value)
            elif name in _TOP:
                changed = with_value(changed, _TOP[name], value, name)
            elif name in kept:
                kept[name] = value
            else:
                raise Rejected(404, f"Setting {name[:80]} not found")
        self.settings = changed
        self.kept.update(kept)
        self.computer.update(computer)

    def _with_auto_run(self, settings: Settings, value: Any) -> Settings:
        if value is True and not (self.may_run_unasked or settings.auto_run):
            raise Rejected(
                403, "auto_run over the wire needs a server that was started with --compat-unsafe."
            )
        return with_value(settings, "auto_run", value, "auto_run")

    def _with_llm(self, settings: Settings, sent: Mapping[str, Any]) -> Settings:
        for name, value in sent.items():
            if name in _REFUSED:
                raise Rejected(403, f"llm.{name} is as the server was started.")
            if name not in _LLM:
                raise Rejected(404, f"Sub-setting {name[:80]} not found in llm")
            settings = with_value(settings, _LLM[name], value, f"llm.{name}")
        return settings


def with_value(settings: Settings, name: str, value: Any, told: str) -> Settings:
    """The settings with one changed, of which clients know as `told`; None stands for its default.

    Raises:
        Rejected: it is no value of this setting.
    """
    row = table(Settings)[name]
    try:
        checked = row.default if value is None else row.checked(value)
    except ValueError:
        raise Rejected(422, f"{told} must be {row.rule}.") from None
    return replace(settings, **{name: checked}, origins={**settings.origins, name: ORIGIN})


def _group(name: str, value: Any) -> Mapping[str, Any]:
    if not isinstance(value, Mapping):
        raise Rejected(422, f"{name} must be an object with sub-settings.")
    return value


def _known(sent: Mapping[str, Any], known: Mapping[str, Any], group: str) -> Mapping[str, Any]:
    for name in sent:
        if name not in known:
            raise Rejected(404, f"Sub-setting {name[:80]} not found in {group}")
    return sent
