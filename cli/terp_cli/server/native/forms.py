"""The bodies of the native interface: what is sent, and what comes back."""

from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, WithJsonSchema

from terp.person import Option
from terp_cli.fronts.json import usage_json
from terp_cli.server.opening import OF_CLIENTS, checked_settings, schema_of_settings
from terp_cli.server.person import Open
from terp_cli.server.sessions import Served
from terp_cli.server.tree import FileEntry

Value = str | bool | int | float | None
Name = Annotated[str, Field(max_length=4_096)]


Sendable = Annotated[
    dict[str, Value],
    Field(max_length=len(OF_CLIENTS)),
    AfterValidator(checked_settings),
    WithJsonSchema(schema_of_settings()),
]


class Sent(BaseModel):
    """The body of a request: no value is converted, and an unknown field is an error."""

    model_config = ConfigDict(extra="forbid", strict=True)


class ResumeBody(Sent):
    """A stored session to resume; fields that are left out keep their values."""

    profile: Annotated[str, Field(max_length=64)] = ""
    model: Annotated[str, Field(max_length=200)] = ""
    settings: Sendable = {}


class SessionBody(ResumeBody):
    """A new session. `cwd` is a directory below the root of the server; without it, one is created."""

    cwd: Name = ""


Title = Annotated[str, Field(max_length=1_000)]


class ChangeBody(Sent):
    """Another title, model or profile of an open session; what is left out stays."""

    title: Title = ""
    profile: Annotated[str, Field(max_length=64)] = ""
    model: Annotated[str, Field(max_length=200)] = ""


class ForkBody(Sent):
    """The title of the copy; without one it has that of the session."""

    title: Title = ""


Turns = Annotated[int, Field(ge=1, le=100_000)]


class RewindBody(Sent):
    """The number of turns to undo, from the last one, and the files to restore; others stay."""

    turns: Turns
    files: Annotated[list[Name], Field(max_length=100_000)] = []


class Streamed(Sent):
    """The body of a route that begins a turn: `stream` answers with its events."""

    stream: bool = True


class TurnBody(Streamed):
    """A prompt. `attachments` are files of the session; `stream` answers with the events."""

    prompt: Annotated[str, Field(max_length=200_000)]
    attachments: Annotated[list[Name], Field(max_length=50)] = []


class ResumeTurnBody(Streamed):
    """A request to continue the turn that was waiting when the session ended."""


class RunBody(Streamed):
    """Code to run without the model, in the first language of the session or in `language`."""

    code: Annotated[str, Field(max_length=200_000)]
    language: Annotated[str, Field(max_length=40)] = ""


class SolveBody(Streamed):
    """A problem as text, in Markdown or Python, as `terp solve` reads it."""

    problem: Annotated[str, Field(max_length=50_000)]


# A name with a version: neither an option of the installer nor an address.
Requirement = Annotated[str, Field(pattern=r"^[A-Za-z0-9][^\s/\\@:;]{0,199}$")]


class InstallBody(Streamed):
    """Packages for the Python kernel, by names or requirements."""

    packages: Annotated[list[Requirement], Field(min_length=1, max_length=50)]


class RestartBody(Sent):
    """The language of the kernel to restart; by default the first of the session."""

    language: Annotated[str, Field(max_length=40)] = ""


class CodeDecision(Sent):
    """About the code with this digest, as its `code_proposed` had it.

    `code` runs other code in its place: it is proposed again, and runs when that proposal is approved.
    `reason` is sent to the model with a refusal; `stop` ends the turn.
    """

    digest: Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]
    decision: Literal["run", "decline"]
    code: Annotated[str, Field(max_length=200_000)] = ""
    reason: Annotated[str, Field(max_length=20_000)] = ""
    stop: bool = False


class AnswerBody(Sent):
    """A line for input, true or false for a consent, the letter of a choice."""

    answer: Annotated[str, Field(max_length=200_000)] | bool


class QuestionInfo(BaseModel):
    """A question that waits. An approval has the call and the digest of its code."""

    question_id: str
    kind: Literal["approval", "consent", "choice", "input"]
    what: str
    secret: bool
    why: str = ""
    options: tuple[Option, ...] = ()
    call_id: str = ""
    digest: str = ""


class UsageInfo(BaseModel):
    """The usage of a session's requests; `cost_usd` is None when the price of one is not known."""

    calls: int
    input_tokens: int
    output_tokens: int
    cached_tokens: int
    cost_usd: float | None
    unpriced_calls: int
    seconds: float


class SessionInfo(BaseModel):
    """An open session. `last` is the number of its newest event, `busy` is True while a turn runs.

    `approve` is when clients are asked: "before" code runs, at each "effect" of it, or "never".
    `pending` is code that still waited for an answer when the session ended; `go_on` asks about it again.
    """

    id: str
    model: str
    profile: str
    cwd: str
    tier: str
    approve: Literal["before", "effect", "never"]
    turns: int
    busy: bool
    waiting: int
    following: int
    last: int
    spent_usd: float | None
    usage: UsageInfo
    questions: list[QuestionInfo]
    pending: list[str]


class SessionRow(BaseModel):
    """A session in the list. `open` is whether this server has it open; times are seconds since the epoch."""

    id: str
    title: str
    cwd: str
    turns: int
    model: str
    started: float
    used: float
    forked_from: str
    open: bool


class SessionList(BaseModel):
    """The sessions, most recently used first."""

    sessions: list[SessionRow]


class ListedModels(BaseModel):
    """The models that the provider of the server's model, and servers of this machine, list."""

    models: list[str]


class Rewound(BaseModel):
    """The undone turns, and variables that were restored or removed, or not (`lost`, each with the reason).

    `files` were restored; `files_lost` stay as they are. `told` says all this in sentences.
    """

    turns: int
    restored: list[str]
    removed: list[str]
    lost: list[tuple[str, str]]
    files: list[str]
    files_lost: list[tuple[str, str]]
    told: list[str]


class RewindQuestion(BaseModel):
    """The files that can be restored with a rewind, and the question about them; "" if there are none."""

    question: str
    files: list[str]


class Forked(BaseModel):
    """The id of the session that has the same past now."""

    id: str


class TurnTaken(BaseModel):
    """The events of the turn come behind the number `after`, once `waiting` other turns are over."""

    after: int
    waiting: int


class TurnsDropped(BaseModel):
    """The number of waiting turns that were dropped."""

    dropped: int


class Taken(BaseModel):
    """The answer was accepted."""

    taken: Literal[True] = True


class VariableInfo(BaseModel):
    """A variable of the kernel: its name, type, and the beginning of its value."""

    name: str
    type: str
    shape: list[int]
    size: int | None
    head: str


class VariableList(BaseModel):
    """The variables of one language's kernel; none while it is not started."""

    language: str
    variables: list[VariableInfo]


class PackageList(BaseModel):
    """The packages that Python code can import, with their versions; none while its kernel is not started."""

    packages: dict[str, str]


class SolveInfo(BaseModel):
    """A problem's present solution, as `terp solve` writes it in JSON. At the end `step` is "over"."""

    model_config = ConfigDict(extra="allow")

    step: str
    solution: str
    passed: bool


class FileList(BaseModel):
    """The files of the session in order; `more` where there are more than are listed."""

    files: list[FileEntry]
    more: bool


class FileWritten(BaseModel):
    """The written file."""

    path: str
    size: int


class Alive(BaseModel):
    """The server answers."""

    status: Literal["alive"] = "alive"
    version: str
    sessions: int


class Schema(BaseModel):
    """A JSON Schema."""

    model_config = ConfigDict(extra="allow")

    title: str
    version: Any = None


def session_info(served: Served) -> SessionInfo:
    """An open session as clients read it."""
    session = served.session
    return SessionInfo(
        id=served.id,
        model=session.model.name,
        profile=served.profile,
        cwd=str(served.cwd),
        tier=session.kernels.get(session.kernels.languages[0]).tier,
        approve=_approve(served),
        turns=len(session.turns),
        busy=served.turns.busy,
        waiting=served.turns.waiting,
        following=served.subscribers.following,
        last=served.transcript.last,
        spent_usd=session.spent_usd,
        usage=UsageInfo(**usage_json(session.budget.used)),
        questions=[_question_info(served, one) for one in served.questions.all()],
        pending=[served.redactor.redacted(code) for code in session.pending],
    )


def _approve(served: Served) -> Literal["before", "effect", "never"]:
    if served.unasked:
        return "never"
    confinement = served.session.resources.confinement
    return "effect" if confinement is not None and confinement.holds else "before"


def _question_info(served: Served, question: Open) -> QuestionInfo:
    asked, proposed, more = question.asked, question.proposed, served.person.details_of(question.asked)
    return QuestionInfo(
        question_id=asked.question_id,
        kind=asked.kind,
        what=served.redactor.redacted(asked.what),
        secret=asked.secret,
        why=served.redactor.redacted(more.why),
        options=more.options,
        call_id=proposed.call_id if proposed else "",
        digest=proposed.digest if proposed else "",
    )
