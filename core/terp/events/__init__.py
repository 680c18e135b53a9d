"""All that a turn can tell a front end.

Every event is numbered and appended to the session's log before anyone sees it. A front end matches
all of them and ends its `match` with `assert_never`, so that a new event cannot be forgotten.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from terp.errors import StopReason
from terp.events.effects import NOT_ANALYSED, Effects
from terp.events.outputs import FileChange, Output, RunStatus, StoppedAt, VariableChange

KernelState = Literal[
    "starting", "ready", "busy", "interrupting", "interrupted", "died", "restarted", "stopped", "left"
]
CompactionReason = Literal["full", "refused", "asked", "undone"]
JobState = Literal["background", "ended"]
QuestionKind = Literal["approval", "consent", "choice", "input"]


@dataclass(frozen=True, slots=True)
class TurnStarted:
    """A turn began. First of a turn; `attachments` are the names the model is told.

    `goes_on` is set when a turn that had broken off is taken up again: nothing new was said.
    """

    prompt: str
    attachments: tuple[str, ...] = ()
    goes_on: bool = False


@dataclass(frozen=True, slots=True)
class ModelCalled:
    """A request is about to be sent. Once per round; a repeat after a failure is `ModelRetrying`."""

    model: str
    step: int


@dataclass(frozen=True, slots=True)
class ModelRetrying:
    """The request failed and is sent again after `delay_s`; what came of this reply before is void."""

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

    With a `reference` it is none of the model's: the value of a variable, as Markdown, that terp has put in
    the place of `{{…}}`, which is how the model wrote it.
    """

    text: str
    reference: str = ""


@dataclass(frozen=True, slots=True)
class CodeDelta:
    """A piece of the code of a call while the model writes it, decoded.

    `language` is "" as long as the model has not written it.
    """

    call_id: str
    language: str
    text: str


@dataclass(frozen=True, slots=True)
class CodeProposed:
    """A complete call, as it would run. Comes before its question, and again after an edit.

    `digest` is the SHA-256 of `code` in UTF-8, hexadecimal. `kernel_generation` counts the lives
    of the language's kernel (0: not started yet). `tier` names the confinement of the run, `place` a
    kernel that is not terp's own on this machine, to follow "in"; `cwd` is "" when that kernel alone knows
    it. `effects` tell what it would do: they inform, and decide nothing unless a rule of the person's is
    about them. `asks` says why a person must be asked, whatever runs code unasked otherwise: a rule, or a
    kernel that is held by less than the person was told.
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
    """Code of the person's own is about to run, without the model and outside a turn.

    Comes instead of `CodeProposed` and its question; `CodeStarted` and what follows it are as in a turn.
    """

    call_id: str
    language: str
    code: str


@dataclass(frozen=True, slots=True)
class Asked:
    """A question waits for an answer: from the session's person or through `Session.answer`.

    `options` are those of a choice: what each does, by the letter it is answered with.
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

    At most once per `Asked`: one that is taken back, or that nobody can answer, ends without it. What
    decided `by` a rule of the person's begins with `RULE`.
    """

    question_id: str
    answer: str
    by: str


@dataclass(frozen=True, slots=True)
class CodeDeclined:
    """The person, or their rule, declined a call: comes instead of `CodeStarted` and what follows it."""

    call_id: str
    reason: str


@dataclass(frozen=True, slots=True)
class CodeRejected:
    """A call that cannot run, whatever the person says: the model is told why."""

    call_id: str
    reason: str


@dataclass(frozen=True, slots=True)
class CodeStarted:
    """The kernel has the code of an approved call.

    `execution_count` is the number of the run in the session, through restarts and over all languages:
    a Python kernel counts the same, and `out[N]` there is the run's full output.
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
    """Output that came after its run had ended, from a thread or a child process."""

    call_id: str
    output: Output


@dataclass(frozen=True, slots=True)
class CodeFinished:
    """A run is over. Comes after the last `Printed` of its call, once per `CodeStarted`.

    `output_path` is the file with the run's full text output ("" when there was none). `changes` are
    those of the kernel's variables, `more_changes` counts what is left out of them; `stopped_at` is where
    a run that was stopped stood, as far as that is known. `cwd` is the working directory of the kernel then.
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


@dataclass(frozen=True, slots=True)
class JobChanged:
    """A run goes on in the background, as number `job`, or has ended there.

    In between, its `Printed` come among the events of whatever goes on; its `CodeFinished` comes right before
    it has "ended". `seconds` is how long it has been running. One that never ends was lost with its session.
    """

    call_id: str
    job: int
    language: str
    state: JobState
    seconds: float


@dataclass(frozen=True, slots=True)
class KernelChanged:
    """A kernel changed its state; also outside a turn.

    "interrupting": its code has not answered an interrupt for 2 s; a second one ends the kernel.
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
    """Something takes its time; `total` is 0 when unknown, and with as much `done` it is over."""

    what: str
    done: int
    total: int
    seconds: float


@dataclass(frozen=True, slots=True)
class UsageReported:
    """What one request to `model` used, in tokens; `cost_usd` is None when the price is unknown.

    Every request counts, also one beside the conversation; `seconds` is the wait for its reply.
    """

    input_tokens: int
    output_tokens: int
    cached_tokens: int
    cost_usd: float | None
    model: str = ""
    seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class HistoryCompacted:
    """The model has less to read from now on; with the reason "undone", all that there was before.

    `before` and `after` are the tokens of a whole request, as they are expected. `how` is "outputs cut" or
    "summed up". `reason` tells whether the window was nearly full, the model refused a request as too long,
    or somebody has asked for it. `window` is what the model reads at once, 0 where that is not known.
    """

    before: int
    after: int
    how: str
    reason: CompactionReason = "refused"
    window: int = 0


@dataclass(frozen=True, slots=True)
class HistoryRewound:
    """The last `removed` turns are no part of the conversation any more; what their code did stays.

    Unless it is `undone`: then variables and files were put back as far as they were kept. `left` turns are
    left. `copy` is the session that still has all of them, "" when there is none.
    """

    removed: int
    left: int
    copy: str = ""
    undone: bool = False


@dataclass(frozen=True, slots=True)
class SessionForked:
    """The conversation as it is now can also be gone on with as the session `copy`."""

    copy: str


@dataclass(frozen=True, slots=True)
class SessionResumed:
    """A stored session goes on, in new kernels. First of what happens then.

    `session` is its id, `turns` how many the conversation has. `lost` tells that code had run, so that
    variables are gone; `gone` are their names as far as they are known. `pending` is the code, call by
    call, that still waited for an answer: it has not run.
    """

    session: str
    turns: int
    lost: bool = False
    gone: tuple[str, ...] = ()
    pending: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class CodeCompared:
    """Code of a stored session was run again, as run `done` of `total`. Comes after its `CodeFinished`.

    `difference` is a unified diff of the text it put out then and now, "" when that is the same.
    """

    call_id: str
    done: int
    total: int
    difference: str = ""


@dataclass(frozen=True, slots=True)
class CheckStarted:
    """What the last turn has done is checked; comes after its end, and before `CheckFinished`.

    `check` is the command or the expression as it was written, `attempt` counts from 1. `tier` names what
    confines it.
    """

    check: str
    attempt: int
    tier: str = "none"


@dataclass(frozen=True, slots=True)
class CheckFinished:
    """A check is over, once per `CheckStarted`; a turn that tells it may follow one that has not passed.

    `status` is the exit status, None without one; `why` says why it has not passed. `output` is the head and
    the tail of what it put out. `changed` and `missing` are the files that the check is made of and that are
    not as they were, `new` those that have come: it ran with the originals, without what is new. Where that
    passed it ran once more with what is on disk; `results` tells of both. `left` is how many more times the
    model is asked, None without a limit.
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
    """Something a person must see; `remedy` says what can be done about it."""

    text: str
    remedy: str = ""


@dataclass(frozen=True, slots=True)
class TurnFinished:
    """The turn is over. Last, unless the consumer left.

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
