"""The routes of OpenAI's interface: chat completions, responses, models, embeddings."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Annotated, Any
from urllib.parse import quote

from fastapi import APIRouter, Header, Request, Response
from fastapi.responses import JSONResponse

from terp.errors import ModelError
from terp.text.dataclasses import dataclass
from terp_cli.server.failures import RequestRefused, documented, sending
from terp_cli.server.openai import forms
from terp_cli.server.openai.answering import ChatAnswer
from terp_cli.server.openai.forms import ChatMessage, ChatToolCall, FunctionCalled
from terp_cli.server.openai.markdown import LastReply, Markdown
from terp_cli.server.openai.replies import SESSION, ChunkFields, JsonReply, SentReply, StreamReply
from terp_cli.server.openai.requests import OWN_MODEL, ChatRequest, fingerprint, read_request
from terp_cli.server.openai.responses import Form, ResponseBody, ResponseReply, ResponseStream, as_chat
from terp_cli.server.openai.threads import Stateful, Thread, Threads
from terp_cli.server.opening import SessionRequest
from terp_cli.server.sessions import Sessions

Embedding = Callable[[dict[str, Any]], Awaitable[dict[str, Any]]]
"""Passes a request for embeddings on to the provider of a model."""
SessionNamed = Annotated[str, Header(alias=SESSION, max_length=40)]
_OBJECT = {"application/json": {"schema": {"type": "object"}}}
_ANSWERS = sending(
    "The answer in OpenAI's form: an object, or chunks as server-sent events.",
    {**_OBJECT, "text/event-stream": {}},
    404,
    409,
)
_MOST_RESPONSES, _UNKNOWN = 1_000, 502
_VECTORS = sending("The embeddings, as the provider gives them.", _OBJECT)


@dataclass(frozen=True)
class _Asking:
    """Finds the conversation of a request; `sign` returns a query that opens an output without token."""

    threads: Threads
    sign: Callable[[str], str]

    async def taken(
        self, read: ChatRequest, session: str, metadata: Mapping[str, Any] | None, request: Request
    ) -> tuple[ChatAnswer, Callable[[SentReply], None]]:
        """Return the answer to a request, and the callback for its end."""
        named = session or str((metadata or {}).get("terp_session", ""))
        thread, untold = await (self.threads.of_session(named) if named else self.threads.of_past(read))

        def over(sent: SentReply) -> None:
            after = fingerprint(_messages_after(read, sent), read.wishes)
            self.threads.keep(thread, after, None if named else read)

        return ChatAnswer(thread, read, untold, self.markdown(thread, request, read)), over

    def markdown(self, thread: Thread, request: Request, read: ChatRequest) -> Markdown:
        """Return the writer of the answer."""

        def link(name: str) -> str:
            path = f"/v1/sessions/{thread.served.id}/outputs/{name}"
            return f"{str(request.base_url).rstrip('/')}{quote(path)}{self.sign(path)}"

        form = LastReply if "response_format" in read.demands else Markdown
        return form(link, str(thread.served.cwd))


def router(
    sessions: Sessions,
    *,
    model: str = "",
    embed: Embedding | None = None,
    stateful: Stateful | None = None,
    sign: Callable[[str], str] = lambda _: "",
) -> APIRouter:
    """Return the routes below `/v1` and `/openai`.

    `model` is the server's own model, `embed` calls its provider, and `sign` returns the query that opens the
    path of an output without the token. With `stateful`, all requests below `/openai` belong to one
    conversation, as in Open Interpreter.
    """
    routes = APIRouter(tags=["openai"])
    asking = _Asking(Threads(sessions), sign)

    @routes.post("/v1/chat/completions", response_class=Response, responses=_ANSWERS)
    async def chat(wanted: forms.ChatBody, request: Request, session: SessionNamed = "") -> Response:
        """Answer a conversation in OpenAI's form."""
        answer, over = await asking.taken(read_request(wanted, model), session, wanted.metadata, request)
        return _reply(answer, wanted, over)

    @routes.post("/openai/chat/completions", response_class=Response, responses=_ANSWERS)
    async def chat_of_all(wanted: forms.ChatBody, request: Request, session: SessionNamed = "") -> Response:
        """The same; with `--compat` one conversation of all clients, as Open Interpreter has it."""
        if stateful is None:
            return await chat(wanted, request, session)
        thread, new = await stateful.taken(wanted)
        if new is None:
            return JSONResponse(None)
        read = ChatRequest("", (), new, {}, SessionRequest(), ())
        answer = ChatAnswer(thread, read, (), asking.markdown(thread, request, read))
        return _reply(answer, wanted, lambda _: None)

    _add_models(routes, model)
    _add_responses(routes, asking, model)

    @routes.post("/v1/embeddings", responses=_VECTORS, response_class=Response)
    async def embeddings(wanted: forms.EmbeddingsBody) -> Response:
        """Pass texts on to the model's provider; 501 if it has no embeddings."""
        if embed is None:
            raise RequestRefused(501, "This server passes no embeddings on.", code="no_embeddings")
        if wanted.model == OWN_MODEL:
            raise RequestRefused(
                400, f"{OWN_MODEL!r} embeds nothing.", "Name an embedding model of the provider."
            )
        try:
            return JSONResponse(await embed(wanted.model_dump()))
        except ModelError as error:
            # A key that the provider refuses is the server's, and none of the client's business.
            status = _UNKNOWN if error.status in (0, 401, 403) else error.status
            raise RequestRefused(status, error.message, error.remedy, code=error.stop_reason) from error

    return routes


def _add_responses(routes: APIRouter, asking: _Asking, model: str) -> None:
    responses: dict[str, Sequence[ChatMessage]] = {}

    @routes.post("/v1/responses", response_class=Response, responses=_ANSWERS)
    async def respond(wanted: ResponseBody, request: Request, session: SessionNamed = "") -> Response:
        """Answer in the form of OpenAI's Responses: text and calls of the client's functions."""
        before = wanted.previous_response_id
        if before and before not in responses:
            raise RequestRefused(
                404, f"There is no response {before[:80]!r}.", code="previous_response_not_found"
            )
        read = read_request(as_chat(wanted, responses[before] if before else ()), model)
        answer, over = await asking.taken(read, session, wanted.metadata, request)
        form = Form(wanted)

        def over_response(sent: SentReply) -> None:
            responses[form.id] = _messages_after(read, sent)
            for old in list(responses)[:-_MOST_RESPONSES]:
                del responses[old]
            over(sent)

        kind = ResponseStream if wanted.stream else ResponseReply
        reply = kind(answer, ChunkFields(wanted.model), over_response)
        reply.form = form
        return reply


def _add_models(routes: APIRouter, model: str) -> None:
    @routes.get("/v1/models", responses=documented())
    @routes.get("/openai/models", include_in_schema=False)
    async def models() -> forms.ModelList:
        """The models to choose from: "terp" is the one that the server was started with."""
        named = [OWN_MODEL, *([model] if model else [])]
        return forms.ModelList(data=[forms.ModelInfo(id=one) for one in named])

    @routes.get("/v1/models/{name:path}", responses=documented(404))
    async def model_of(name: str) -> forms.ModelInfo:
        """One model by its name."""
        if name not in (OWN_MODEL, model):
            raise RequestRefused(404, f"No model {name[:200]!r} is listed.", "GET /v1/models lists them.")
        return forms.ModelInfo(id=name)


def _reply(answer: ChatAnswer, wanted: forms.ChatBody, over: Callable[[SentReply], None]) -> JsonReply:
    frame = ChunkFields(wanted.model or OWN_MODEL)
    if not wanted.stream:
        return JsonReply(answer, frame, over)
    stream = StreamReply(answer, frame, over)
    stream.sends_usage = bool(wanted.stream_options and wanted.stream_options.include_usage)
    return stream


def _messages_after(read: ChatRequest, sent: SentReply) -> Sequence[ChatMessage]:
    """Return the messages before the next request's new ones; without an answer, this request's past."""
    if sent.failed is not None or not (sent.text or sent.ended):
        return read.past
    calls = [
        ChatToolCall(
            id=call.id, function=FunctionCalled(name=call.name, arguments=call.raw or call.arguments)
        )
        for call in (sent.ended.calls if sent.ended else ())
    ]
    answer = ChatMessage(role="assistant", content=sent.text, tool_calls=calls)
    return [*read.messages, answer]
