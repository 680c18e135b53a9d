"""`Session`: a conversation, its kernels and the person behind them."""

from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import AsyncExitStack, aclosing
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from terp.events import Event, Noticed, TurnStarted
from terp.events.kernel import Kernel, Kernels
from terp.events.log import EventLog, Record
from terp.events.messages import Assistant, Attachment, Message, User
from terp.events.model import Model
from terp.events.outputs import Service
from terp.events.run_log import RERUN_PROMPT, LoggedRun, RunLog
from terp.kernels.environments.readiness import Readiness, Warming
from terp.models.facts.model_facts import Window
from terp.models.tool import Call
from terp.person import Person
from terp.person.dialog import Answer, UserDialog
from terp.session.artifacts import OUTPUTS, Artifacts
from terp.session.context.compaction import Compactor
from terp.session.context.history import History, PastTurn
from terp.session.context.request import ModelRequests, RequestTokens
from terp.session.context.summary import live_facts
from terp.session.conversation import Conversation
from terp.session.cost.budget import Budget
from terp.session.foreground import Foreground, Task
from terp.session.held_effects import EffectQuestions
from terp.session.jobs import Jobs
from terp.session.keeping import Keeping, Stored
from terp.session.observation import BetweenRuns
from terp.session.proposals import Proposals
from terp.session.resources import SessionResources
from terp.session.rewind.rewind import Rewind
from terp.session.runs import Runner
from terp.session.services import EDIT, RUN_OUTPUT, Services, edit_consent, run_outputs
from terp.session.turn import SENT, TYPED, Install, SentRun, SessionParts, Turn, TypedRun

if TYPE_CHECKING:
    from terp.session.live_kernel import LiveKernel
    from terp.session.rewind.resuming import Resumption


class Session:
    """A conversation with a model that runs code in kernels, with a person in charge.

    `folder` takes pictures and full outputs; it is created with the first of them. `resources` are limits,
    rules and services that the parts of the session read at each use. `keeper` stores what happens, and holds
    an earlier session to resume: in a folder (`terp.store.places`), as lines in a store of your own
    (`terp.store.lines.keep_lines`), or any other implementation of `Keeping`.

    `dialog` asks the user, `offer` adds a service for running code, `rewind` undoes turns,
    `budget` adds up the cost of model calls, `jobs` run in the background. `aclose` closes all parts.
    """

    def __init__(
        self,
        model: Model,
        kernels: Kernels,
        person: Person,
        *,
        folder: Path,
        system: str = "",
        resources: SessionResources | None = None,
        keeper: Keeping | None = None,
    ) -> None:
        stored = keeper.stored if keeper else None
        self.kernels = kernels
        self.folder = folder
        self.resources = resources = resources or SessionResources()
        self._keeper = keeper
        self.log = log = _log_kept_by(keeper)
        runs = RunLog(log)
        self._history = history = stored.history if stored else History()
        history.mark = mark = resources.note_mark
        self._foreground = foreground = Foreground(log)
        self._between = between = BetweenRuns(log, mark)

        # The user: questions, and answers to running code.
        asked = stored.questions if stored else 0
        self.dialog = UserDialog(log, person, foreground.drawn, asked=asked, objected=between.objected)
        self._services = Services(self.dialog)
        proposals = Proposals(log, self.dialog, person, resources)

        # The model: requests, their cost, and the conversation.
        self.readiness = Readiness(mark)
        self._warming = Warming(kernels, self.readiness)
        self.budget = Budget(log, resources, stored.used if stored else None)
        self._requests = ModelRequests(model, log, history, kernels.languages, self.budget, resources, system)
        self._compactor = Compactor(history, log, self._requests, partial(live_facts, kernels, runs))
        calls = stored.calls if stored else 0
        conversation = Conversation(
            self._requests, self._compactor, runs, kernels, self._warming, resources, calls
        )

        # The code: runs and jobs.
        artifacts = Artifacts(folder / OUTPUTS, folder, resources.redactor)
        self.offer(RUN_OUTPUT, run_outputs(runs, artifacts.spooled))
        self.offer(EDIT, edit_consent(log, self.dialog))
        effects, last_run = EffectQuestions(self.dialog, resources), stored.last_run if stored else 0
        runner = Runner(log, runs, artifacts, self._services, resources, effects, last_run)
        self.jobs = Jobs(runner, log, history, foreground)
        self._parts = SessionParts(
            log, conversation, kernels, proposals, self.readiness, self.jobs, between, resources
        )

        self._closed = False
        self._stop_listening = kernels.listen(between)
        if keeper is not None:
            keeper.begin(log.append, model.name)
            history.watchers.append(keeper.change)
        self._resumption = self._resumed(stored) if stored else None
        self.rewind = Rewind(history, log, kernels, foreground, self._compactor, keeper, self._resumption)

    @property
    def model(self) -> Model:
        """The model. It can be replaced between turns; the caller then closes the previous one."""
        return self._requests.model

    @model.setter
    def model(self, model: Model) -> None:
        self._requests.use(model)

    @property
    def yields_deltas(self) -> bool:
        """True if `turn` yields what the model writes as it writes it; else only `log` has these events.

        For front ends that read the log: a turn then does not wake its consumer for each token. It is to be
        set between turns.
        """
        return self._foreground.yields_deltas

    @yields_deltas.setter
    def yields_deltas(self, wanted: bool) -> None:
        self._foreground.yields_deltas = wanted

    @property
    def history(self) -> Sequence[Message]:
        """The messages so far, without the system prompt. They can be replaced between turns."""
        return tuple(self._history)

    @history.setter
    def history(self, messages: Sequence[Message]) -> None:
        self.rewind.prepare()
        self._history.restart(messages)

    @property
    def request(self) -> tuple[Sequence[Message], Sequence[Mapping[str, Any]]]:
        """The next request: the messages, the system prompt first, and the tools."""
        return self._requests.next

    @property
    def window(self) -> Window:
        """The context window of the model; its numbers are 0 where they are not known."""
        return self._requests.window

    @property
    def expected_tokens(self) -> int:
        """An estimate of the tokens of the next request. It is cheap: no tokenizer is loaded."""
        return self._requests.expected_tokens

    def request_tokens(self, prompt: str = "") -> RequestTokens:
        """Return the same by the parts of the request, with `prompt` added to it."""
        return self._requests.tokens(prompt)

    @property
    def spent_usd(self) -> float | None:
        """The cost of the model's replies in USD; None if the price of one is not known."""
        return self.budget.used.cost_usd

    @property
    def turns(self) -> Sequence[PastTurn]:
        """The turns of the conversation, oldest first, without those that a summary replaced."""
        return tuple(self._history.turns)

    @property
    def pending(self) -> Sequence[str]:
        """The code that waited for approval when the stored session ended; `continue_turn` asks again."""
        return self._resumption.event.pending if self._resumption and self._resumption.left_over else ()

    @property
    def kernel(self) -> "LiveKernel":
        """The kernels for the program's own code: `run`, `get`, `set`, `variables`, files and packages."""
        from terp.session.live_kernel import LiveKernel  # noqa: PLC0415  (a front end has no code of its own)

        return LiveKernel(self, self._foreground)

    def instruct(self, system: str, *, code: bool = True) -> None:
        """Replace the system prompt. Without `code` the model has no tool, and none of its code runs.

        Raises:
            RuntimeError: a turn of this session is running.
        """
        self._foreground.check_idle()
        self._requests.system = system
        self._requests.offers_code = code

    def note(self, text: str) -> None:
        """Let the model read `text` with the next message."""
        self._history.note(text)

    def note_restored(self, names: Sequence[str], text: str) -> None:
        """Let the model read `text` with the next message: variables were restored in a new kernel."""
        if self._resumption is not None:
            self._resumption.restored(names)
        self.note(text)

    def offer(self, name: str, service: Service) -> None:
        """Let code in kernels call `service` by `name`; its errors are raised in that code."""
        self._services.offer(name, service)

    async def turn(self, prompt: str, attachments: Sequence[Attachment] = ()) -> AsyncGenerator[Event, None]:
        """Run a turn: yield its events until the model has answered `prompt`; the last is `TurnFinished`.

        Iterate it under `contextlib.aclosing`. The person is asked once the consumer comes back for the next
        event: all events before have been drawn by then. Closing the generator interrupts the turn; the
        history is complete then, too. If its code does not respond, the session is busy until the code ends
        or `interrupt` ends its kernel.

        Raises:
            RuntimeError: another turn of this session is running.
        """
        self._foreground.check_idle()
        after = self.log.last
        self.log.append(TurnStarted(prompt, tuple(attachment.name for attachment in attachments)))
        for notice in filter(None, (attachment.notice for attachment in attachments)):
            self.log.append(Noticed(notice))
        notes = self._history.notes
        notes_now = self._resumption.note_among(notes) if self._resumption else tuple(notes)
        missing = self.jobs.missing_from([message.text for message in self._history] + notes)
        self._history.begin(prompt, attachments, *notes_now, *missing)
        if attachments:
            self.readiness.bring(attachments)
        if self._resumption is not None:
            self._resumption.forget_left_over()
        async with aclosing(self._foreground.play(Turn(self._parts), after)) as events:
            async for event in events:
                yield event

    async def continue_turn(self) -> AsyncGenerator[Event, None]:
        """Continue the last turn; if it broke off when terp ended, ask about its `pending` code again.

        Otherwise the model reads the end of `history`, such as the result of a tool that the client ran. As
        `turn` in everything else; does nothing if the last message is the model's.
        """
        self._foreground.check_idle()
        after = self.log.last
        left_over, step = self._resumption.reopen() if self._resumption else ((), 1)
        if not (left_over or self._history.is_open):
            return
        last = self._history.turns[-1]
        self.log.append(TurnStarted(last.prompt, tuple(one.name for one in last.attachments), continued=True))
        # The left-over code was written for the kernel before.
        self._between.note = (self._resumption and self._resumption.note()) or self._between.note
        async with aclosing(self._foreground.play(Turn(self._parts, left_over, step), after)) as events:
            async for event in events:
                yield event

    async def run(self, language: str, code: str, *, asks: bool = False) -> AsyncGenerator[Event, None]:
        """Run code that the user typed, and yield its events; the model reads of it with the next message.

        Nobody is asked, unless it `asks`: the code is then approved as the model's is. Iterate it as `turn`.

        Raises:
            RuntimeError: a turn of this session is running.
            UnknownLanguage: nothing here runs `language`.
            KernelBusy: a job has its kernel.
        """
        self._foreground.check_idle()
        after = self.log.last
        kernel = self.kernels.get(language)
        self.jobs.check_free(kernel)
        call = Call(f"{SENT if asks else TYPED}{after + 1}", kernel.language, code)
        run = (SentRun if asks else TypedRun)(self._parts, call, kernel)
        async with aclosing(self._foreground.play(run, after)) as events:
            async for event in events:
                yield event

    def install(self, packages: Sequence[str]) -> AsyncGenerator[Event, None]:
        """Install packages for the Python kernel, as far as settings or the user allow it; yield the events.

        As `turn` in everything else.
        """
        return self.play(Install(self._parts, packages))

    async def rerun(self, runs: Sequence[LoggedRun]) -> AsyncGenerator[Event, None]:
        """Run code of a stored session again, in order, and yield events that compare the outputs.

        `session_runs` returns all runs of a stored session. The user is asked about each; a refusal leaves it
        out. The rerun is no part of the
        conversation: in a resumed session the model reads its summary with the next message.
        """
        from terp.session.replay.rerun import Rerun  # noqa: PLC0415  (few sessions are ever run again)

        self._foreground.check_idle()
        after = self.log.last
        self.log.append(TurnStarted(RERUN_PROMPT))
        rerun = Rerun(self._parts, runs, self._keeper.as_kept if self._keeper else self.resources.redacted)
        try:
            async with aclosing(self._foreground.play(rerun, after)) as events:
                async for event in events:
                    yield event
        finally:
            if self._resumption is not None:
                self._resumption.note_again(rerun.note())

    def play(self, task: Task) -> AsyncGenerator[Event, None]:
        """Run another task in this session, and yield its events. As `turn` in everything else."""
        self._foreground.check_idle()
        return self._foreground.play(task, self.log.last)

    async def compact(self, focus: str = "") -> bool:
        """Replace all turns before the last by a summary that the model writes; return False if interrupted.

        The summary keeps most of what `focus` names; `rewind.undo_compaction` restores the turns. A
        conversation that is close to the end of its context window is compacted automatically.

        Raises:
            ModelError: there is no summary, or nothing to summarise; the conversation is unchanged.
            RuntimeError: a turn of this session is running.
        """
        self.rewind.prepare()
        return await self._foreground.run_silently(self._compactor.summarise(focus))

    async def answer_aside(self, prompt: str) -> Assistant:
        """Return the model's reply to a prompt that is no part of the conversation.

        Raises:
            ModelError: there is no reply.
        """
        return await self._requests.answer([User(prompt)])

    async def interrupt(self) -> None:
        """Stop the model or the code; its kernel and the variables stay.

        The turn then ends by itself with `TurnFinished("interrupted")`. Code that has not responded after 2 s
        (`KernelChanged`, "interrupting") continues until a second call ends its kernel. Harmless if idle.
        """
        await self._foreground.stop()

    async def restart_kernel(self, kernel: Kernel) -> None:
        """Restart a kernel for the user; the model reads with the next message that its variables are lost.

        Raises:
            KernelStartFailed: it did not start again.
        """
        await kernel.restart()
        self.note(f"[The user restarted the {kernel.language} kernel: its variables and imports are gone.]")

    async def idle(self) -> None:
        """Return when no turn is running."""
        await self._foreground.idle()

    def answer(self, question_id: str, answer: Answer, by: str = "another front end") -> bool:
        """Answer an open question in place of the person; return False if it is not open any more.

        Raises:
            TypeError: this kind of question needs another kind of answer.
        """
        return self.dialog.answer(question_id, answer, by)

    def events(self, after: int | None = None) -> AsyncGenerator[Record, None]:
        """Yield the log's records after number `after`, then every new one, until the session is closed.

        Without a number, start with the records since the session was opened; 0 starts with all records.
        """
        return self.log.follow(self.log.resumed_at if after is None else after)

    def _resumed(self, stored: Stored) -> "Resumption":
        from terp.session.rewind.resuming import resume  # noqa: PLC0415  (new sessions resume nothing)

        return resume(stored, self._requests, self.kernels, self.log)

    async def aclose(self) -> None:
        """End the turn, the kernels and the model's connections. Harmless when called twice."""
        if self._closed:
            return
        self._closed = True
        # Closed from the last one up, each whatever errors closing another has raised.
        async with AsyncExitStack() as closing:
            if self._keeper is not None:
                closing.callback(self._keeper.close)
            closing.callback(self.log.close)
            closing.push_async_callback(self.model.aclose)
            closing.push_async_callback(self._foreground.ending)
            closing.push_async_callback(self.resources.aclose)
            closing.push_async_callback(self.kernels.aclose)
            closing.callback(self._stop_listening)
            closing.callback(self._warming.cancel)
            closing.push_async_callback(self.jobs.aclose)
            await self.interrupt()


def _log_kept_by(keeper: Keeping | None) -> EventLog:
    if keeper is None:
        return EventLog()
    earlier = keeper.stored.events if keeper.stored else None
    return EventLog(earlier=earlier, keep=keeper.event, stored=keeper.earlier)
