"""Events: every fact about a turn that a front end can show.

Every event is numbered and appended to the session's log before anyone sees it. A front end matches
all of them and ends its `match` with `assert_never`, so that a new event cannot be forgotten.
"""

from collections.abc import Mapping
from typing import Literal

from terp.errors import StopReason
from terp.events.effects import NOT_ANALYSED, Effects
from terp.events.outputs import FileChange, Output, PerformedEffect, RunStatus, StoppedAt, VariableChange
from terp.text.dataclasses import dataclass, field

KernelState = Literal[
    "starting", "ready", "busy", "interrupting", "interrupted", "died", "restarted", "stopped", "left"
]
CompactionReason = Literal["full", "refused", "asked", "undone"]
JobState = Literal["background", "ended"]
QuestionKind = Literal["approval", "consent", "choice", "input"]


@dataclass(frozen=True, slots=True)
class TurnStarted:
    """A turn began. Comes first in a turn; `attachments` are names as sent to the model.

    `continued`: an interrupted turn continues, without a new prompt.
    """

    prompt: str
    attachments: tuple[str, ...] = ()
    continued: bool = False


@dataclass(frozen=True, slots=True)
class ModelCalled:
    """A request is about to be sent. Once per round; repetitions after a failure are `ModelRetrying`."""

    model: str
    step: int


@dataclass(frozen=True, slots=True)
class ModelRetrying:
    """A request failed and is sent again after `delay_s`; earlier parts of this reply are void."""

    attempt: int
    reason: str
    delay_s: float


@dataclass(frozen=True, slots=True)
class ReasoningDelta:
    """A piece of the model's reasoning, as it arrives."""

    text: str


@dataclass(frozen=True, slots=True)
class TextDelta:
    """A piece of the model's text, as it arrives.

    With a `reference`, `text` is the value of a variable as Markdown, which terp filled in for the reference
    `{{…}}` that the model wrote.
    """

    text: str
    reference: str = ""


@dataclass(frozen=True, slots=True)
class CodeDelta:
    """A piece of the code of a call while the model writes it, decoded.

    `language` is "" until the model has written it.
    """

    call_id: str
    language: str
    text: str


@dataclass(frozen=True, slots=True)
class CodeProposed:
    """A complete call, as it would run. Comes before its question, and again after an edit.

    `digest` is the SHA-256 of `code` in UTF-8, hexadecimal. `kernel_generation` counts the starts of the
    language's kernel (0: not started yet). `tier` is the sandbox of the run. `place` names a kernel that terp
    did not start on this machine, to follow "in"; `cwd` is "" if only that kernel knows it. `effects` inform;
    only the user's rules on effects decide by them. `asks` is the reason for a question that comes in any
    case: a rule, or a kernel with a weaker sandbox than was last named.
    """

    call_id: str
    language: str
    code: str
    digest: str
    cwd: str
    kernel_generation: int
    tier: str
    effects: Effects = NOT_ANALYSED
    place: str = ""
    asks: str = ""


@dataclass(frozen=True, slots=True)
class CodeTyped:
    """Code that the user typed is about to run, without the model and outside a turn.

    Comes instead of `CodeProposed` and its question. `CodeStarted` and later events are as in a turn.
    """

    call_id: str
    language: str
    code: str


@dataclass(frozen=True, slots=True)
class Asked:
    """A question waits for an answer, by the session's person or through `Session.answer`.

    `options` of a choice maps letters to their meanings.
    """

    question_id: str
    kind: QuestionKind
    what: str
    secret: bool = False
    options: Mapping[str, str] = field(default_factory=dict)


RULE = "rule "


@dataclass(frozen=True, slots=True)
class Answered:
    """A question was answered; `answer` is "" for a secret.

    Comes at most once per `Asked`: a question that is withdrawn, or that nobody can answer, ends without it.
    `by` begins with `RULE` if a rule of the user decided.
    """

    question_id: str
    answer: str
    by: str


@dataclass(frozen=True, slots=True)
class CodeDeclined:
    """The user, or one of their rules, declined a call. Comes instead of `CodeStarted` and later events."""

    call_id: str
    reason: str


@dataclass(frozen=True, slots=True)
class CodeRejected:
    """A call that cannot run, even with approval; the model gets the reason."""

    call_id: str
    reason: str


@dataclass(frozen=True, slots=True)
class CodeStarted:
    """The kernel received the code of an approved call.

    `execution_count` is the number of the run in the session, through restarts and over all languages. A
    Python kernel uses the same number, and `out[N]` there is the run's full output.
    """

    call_id: str
    execution_count: int


@dataclass(frozen=True, slots=True)
class Printed:
    """One output of a run, in order."""

    call_id: str
    output: Output


@dataclass(frozen=True, slots=True)
class LateOutput:
    """Output that came after the end of its run, from a thread or a child process."""

    call_id: str
    output: Output


@dataclass(frozen=True, slots=True)
class CodeFinished:
    """A run ended. Comes after the last `Printed` of its call, once per `CodeStarted`.

    `output_path` is the file with the run's full text output ("" without one). `changes` are those of the
    kernel's variables, and `more_changes` is the number of changes left out. `stopped_at` is the position of
    an interrupted run, if known. `cwd` is the working directory of the kernel at the end. `effects` are those
    that the system reported, if the effects of the code were held.
    """

    call_id: str
    status: RunStatus
    seconds: float
    files: tuple[FileChange, ...] = ()
    note: str = ""
    output_path: str = ""
    changes: tuple[VariableChange, ...] = ()
    more_changes: int = 0
    stopped_at: StoppedAt | None = None
    cwd: str = ""
    effects: tuple[PerformedEffect, ...] = ()


@dataclass(frozen=True, slots=True)
class JobChanged:
    """A run moved to the background as job `job`, or ended there.

    Meanwhile its `Printed` come among other events; its `CodeFinished` comes right before the state "ended".
    `seconds` is its running time. A job without an end was lost with its session.
    """

    call_id: str
    job: int
    language: str
    state: JobState
    seconds: float


@dataclass(frozen=True, slots=True)
class KernelChanged:
    """A kernel changed its state; also outside a turn.

    "interrupting": the code did not react to an interrupt for 2 s; a second interrupt ends the kernel.
    """

    language: str
    state: KernelState
    why: str = ""

    @property
    def ends_variables(self) -> bool:
        """Return True if the variables of the kernel before this event no longer exist."""
        return self.state in ("died", "restarted", "stopped", "left")


@dataclass(frozen=True, slots=True)
class Progress:
    """Progress of something that takes time. `total` is 0 if unknown; the end has `done` equal to `total`."""

    what: str
    done: int
    total: int
    seconds: float

    @property
    def is_over(self) -> bool:
        """Return True at the end."""
        return 0 < self.total <= self.done


@dataclass(frozen=True, slots=True)
class UsageReported:
    """Usage of one request to `model`, in tokens; `cost_usd` is None if the price is unknown.

    Every request counts, also outside the conversation; `seconds` is the wait for its reply.
    """

    input_tokens: int
    output_tokens: int
    cached_tokens: int
    cost_usd: float | None
    model: str = ""
    seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class HistoryCompacted:
    """The conversation was compacted, or a compaction was undone (reason "undone").

    `before` and `after` are the expected tokens of a whole request. `how` is "outputs cut" or "summed up".
    `reason`: the context window was nearly full, the model refused a request as too long, or the user asked.
    `window` is the size of the context window in tokens, 0 if unknown.
    """

    before: int
    after: int
    how: str
    reason: CompactionReason = "refused"
    window: int = 0


@dataclass(frozen=True, slots=True)
class HistoryRewound:
    """The last `removed` turns left the conversation; changes of their code stay, unless `undone`.

    `undone`: variables and files were restored as far as possible. `left` is the number of remaining turns.
    `copy` is the session that still has all turns, "" without one.
    """

    removed: int
    left: int
    copy: str = ""
    undone: bool = False


@dataclass(frozen=True, slots=True)
class SessionForked:
    """The conversation was copied to the session `copy`, which can be resumed."""

    copy: str


@dataclass(frozen=True, slots=True)
class SessionResumed:
    """A stored session was resumed, in new kernels. Comes before its other events.

    `session` is its id, `turns` the number of its turns. `lost`: code had run, so variables are gone; `gone`
    has their known names. `pending` is code, call by call, that waited for an answer and has not run.
    """

    session: str
    turns: int
    lost: bool = False
    gone: tuple[str, ...] = ()
    pending: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class CodeCompared:
    """Code of a stored session ran again, as run `done` of `total`. Comes after its `CodeFinished`.

    `difference` is a unified diff of its old and new text output, "" if they are equal.
    """

    call_id: str
    done: int
    total: int
    difference: str = ""


@dataclass(frozen=True, slots=True)
class CheckStarted:
    """A check of the last turn began. Comes after the turn's end, and before `CheckFinished`.

    `check` is the command or expression as written; `attempt` counts from 1. `tier` is its sandbox.
    """

    check: str
    attempt: int
    tier: str = "none"


@dataclass(frozen=True, slots=True)
class CheckFinished:
    """A check ended, once per `CheckStarted`; a turn with its output may follow a failed one.

    `status` is the exit status, or None; `why` is the reason of a failure. `output` is the beginning and the
    end of its output. `changed` and `missing` are files of the check that differ from the originals, `new`
    are added ones: the check ran with the originals and without new files. If that passed, it ran again with
    the files on disk; `results` has both. `left` is how many more times the model is asked, None without a
    limit.
    """

    attempt: int
    passed: bool
    status: int | None
    why: str = ""
    output: str = ""
    seconds: float = 0.0
    changed: tuple[str, ...] = ()
    left: int | None = None
    missing: tuple[str, ...] = ()
    new: tuple[str, ...] = ()
    results: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Noticed:
    """A notice that the user must see; `remedy` is what can be done about it."""

    text: str
    remedy: str = ""


@dataclass(frozen=True, slots=True)
class TurnFinished:
    """The turn ended. Comes last, unless the consumer closed the generator.

    `answer` is the text of the last reply; `error` and `remedy` explain a reason that is a failure.
    """

    reason: StopReason
    answer: str
    error: str = ""
    remedy: str = ""


Event = (
    TurnStarted | ModelCalled | ModelRetrying | ReasoningDelta | TextDelta | CodeDelta
    | CodeProposed | CodeTyped | Asked | Answered | CodeDeclined | CodeRejected | CodeStarted
    | Printed | LateOutput | CodeFinished | JobChanged | KernelChanged | Progress | UsageReported
    | HistoryCompacted | HistoryRewound | SessionForked | SessionResumed | CodeCompared
    | CheckStarted | CheckFinished | Noticed | TurnFinished
)  # fmt: skip
