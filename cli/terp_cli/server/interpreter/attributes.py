"""Settings as attributes, by the names that Open Interpreter has for them."""

from typing import Any

from terp_cli.server.compat.wanted import Wanted, with_value


class _Value:
    """A setting of terp's. What is no value of it is refused where it is set."""

    def __init__(self, setting: str) -> None:
        self._setting = setting

    def __set_name__(self, _: type, name: str) -> None:
        self._name = name

    def __get__(self, group: Any, _: type | None = None) -> Any:
        return self if group is None else getattr(group.wanted.settings, self._setting)

    def __set__(self, group: Any, value: Any) -> None:
        group.wanted.settings = with_value(group.wanted.settings, self._setting, value, self._name)


class _Kept:
    """A setting without effect here, for who reads it back."""

    def __set_name__(self, _: type, name: str) -> None:
        self._name = name

    def __get__(self, group: Any, _: type | None = None) -> Any:
        return self if group is None else group.kept[self._name]

    def __set__(self, group: Any, value: Any) -> None:
        group.kept[self._name] = value


class Top:
    """What is said of the conversation."""

    auto_run = _Value("auto_run")
    system_message = _Value("system_message")
    custom_instructions = _Value("instructions")
    max_output = _Value("max_output_chars")
    contribute_conversation = _Kept()
    conversation_history = _Kept()
    debug = _Kept()
    disable_telemetry = _Kept()
    highlight_active_line = _Kept()
    in_terminal_interface = _Kept()
    loop = _Kept()
    multi_line = _Kept()
    offline = _Kept()
    os = _Kept()
    plain_text_display = _Kept()
    safe_mode = _Kept()
    shrink_images = _Kept()
    speak_messages = _Kept()
    verbose = _Kept()

    def __init__(self, wanted: Wanted) -> None:
        self.wanted = wanted
        self.kept = wanted.kept


class Llm:
    """What is said of the model. Its key stays in this object, and goes to the model's provider alone."""

    model = _Value("model")
    temperature = _Value("temperature")
    max_tokens = _Value("max_tokens")
    context_window = _Value("context_window")
    supports_vision = _Value("supports_vision")
    supports_functions = _Value("supports_tools")
    api_base = _Value("api_base")
    api_version = _Value("api_version")
    max_budget = _Value("max_budget_usd")

    def __init__(self, wanted: Wanted) -> None:
        self.wanted = wanted
        self.api_key = ""


class Computer:
    """What is said of the machine; without effect here."""

    emit_images = _Kept()
    import_computer_api = _Kept()
    import_skills = _Kept()
    offline = _Kept()
    verbose = _Kept()

    def __init__(self, wanted: Wanted) -> None:
        self.kept = wanted.computer
