"""The bodies of OpenAI's interface. Fields that terp does not use are ignored: clients send many."""

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from terp_cli.server.native.forms import Value


class Loose(BaseModel):
    """The body of a request. Unknown fields are ignored."""

    model_config = ConfigDict(extra="ignore")


class FunctionCalled(Loose):
    """A function that the model called, with its arguments as JSON text."""

    name: str
    arguments: str = ""


class ChatToolCall(Loose):
    """A call of one of the client's tools, copied from the previous answer."""

    id: str
    function: FunctionCalled


class ChatMessage(Loose):
    """One message of the conversation. Content is text, or parts of text and pictures as data URLs."""

    role: Literal["system", "developer", "user", "assistant", "tool"]
    content: str | list[dict[str, Any]] | None = None
    tool_calls: list[ChatToolCall] | None = None
    tool_call_id: str = ""


class ClientFunction(Loose):
    """A function of the client."""

    model_config = ConfigDict(extra="allow")

    name: Annotated[str, Field(pattern=r"^[a-zA-Z0-9_-]{1,64}$")]


class ClientTool(Loose):
    """A tool that the client runs itself."""

    type: Literal["function"]
    function: ClientFunction


class StreamOptions(Loose):
    """`include_usage` asks for a last chunk with the tokens."""

    include_usage: bool = False


class AskingBody(Loose):
    """The fields that requests of both forms have, for chat completions and for responses."""

    model: Annotated[str, Field(max_length=200)] = ""
    stream: bool | None = False
    tool_choice: str | dict[str, Any] | None = None
    temperature: float | None = None
    top_p: float | None = None
    metadata: dict[str, Any] | None = None


class ChatBody(AskingBody):
    """The whole conversation so far, and the options of its answer.

    `model` is "terp" for the server's model, or the name of another one. `metadata` may contain the session's
    id as `terp_session`.
    """

    messages: Annotated[list[ChatMessage], Field(min_length=1)]
    stream_options: StreamOptions | None = None
    tools: list[ClientTool] | None = None
    response_format: dict[str, Any] | None = None
    functions: list[Any] | None = None
    function_call: str | dict[str, Any] | None = None
    n: int | None = None
    max_tokens: int | None = None
    max_completion_tokens: int | None = None
    reasoning_effort: str | None = None

    @property
    def settings(self) -> dict[str, Value]:
        """The settings of a session that the request sets."""
        found: dict[str, Value] = {
            "temperature": self.temperature,
            "max_tokens": self.max_completion_tokens or self.max_tokens,
            "reasoning_effort": self.reasoning_effort,
        }
        return {name: value for name, value in found.items() if value is not None}


class EmbeddingsBody(Loose):
    """Texts to embed, by a model of the server's provider."""

    model_config = ConfigDict(extra="allow")

    input: str | list[str] | list[int] | list[list[int]]
    model: Annotated[str, Field(max_length=200)]


class ModelInfo(BaseModel):
    """A model that requests can name."""

    id: str
    object: Literal["model"] = "model"
    created: int = 0
    owned_by: str = "terp"


class ModelList(BaseModel):
    """The models."""

    object: Literal["list"] = "list"
    data: list[ModelInfo]
