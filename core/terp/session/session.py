"""`Session`: a conversation, its kernels and the person behind them."""

from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping, Sequence
from contextlib import AsyncExitStack, aclosing
from pathlib import Path
from typing import TYPE_CHECKING, Any

from terp.errors import SessionError
from terp.events import Event, Noticed, TurnStarted
from terp.events.kernel import Kernels
from terp.events.log import EventLog, Record
from terp.events.messages import Assistant, Attachment, Message, ToolCall, User
from terp.events.model import Model
from terp.events.run_log import RERUN_PROMPT, LoggedRun, RunLog
from terp.kernels.environments.readiness import Readiness
from terp.kernels.sandbox.denials import denials_of
from terp.kernels.sandbox.temporary import Leftovers
from terp.models.facts.window import Window
from terp.models.tool import Call
from terp.person import Person
from terp.person.questions import Answer, Questions
from terp.person.voice import Voice
from terp.session.answers.answer_text import new_filling
from terp.session.artifacts import OUTPUTS, Artifacts
from terp.session.between_runs import BetweenRuns
from terp.session.context.history import History, PastTurn
from terp.session.context.live_facts import LiveFacts
from terp.session.conversation import Conversation
from terp.session.equipment import Equipment
from terp.session.jobs import Jobs
from terp.session.keeping import Keeping, Stored
from terp.session.limits import Limits
from terp.session.parts import Parts
from terp.session.playing import Playing, Work
from terp.session.proposals import Proposals
from terp.session.rewind.rewind import Rewind
from terp.session.runs import Runner
from terp.session.services import RUN_OUTPUT, Services, run_outputs
from terp.session.turn import Turn
from terp.session.typed_run import TYPED, TypedRun
from terp.session.warming import Warming
from terp.text.interrupts import Interrupts

if TYPE_CHECKING:
    from terp.session.rewind.resuming import Resumption


class Session:
    """A conversation with a model that runs code in kernels, with a person in charge.

    `folder` takes pictures and full outputs; it is made when the first of them is written. `keeper` writes
    down what happens, and knows what was stored before, with which the session then goes on: in a folder
    (`terp.store.places`), as lines in a store of your own (`terp.store.lines.keep_lines`), or whatever else
    implements `Keeping`. Whoever puts the session together fills its `equipment`; `teach` lets the model read
    a text with the next message, `offer` lets code call a service by its name, `past` takes turns out of the
    conversation. `budget` adds up what calls of the model use, `jobs` go on in the background.
    `aclose` closes all parts.
    """

    def __init__(
        self,
        model: Model,
        kernels: Kernels,
        person: Person,
        *,
        folder: Path,
        system: str = "",
        limits: Limits | None = None,
        keeper: Keeping | None = None,
    ) -> None:
        stored = keeper.stored if keeper else None
        self.log = log = EventLog(
            earlier=stored.events if stored else None, keep=keeper.event if keeper else None
        )
        self.kernels = kernels
        self.folder = folder
        self._person = person
        self._keeper = keeper
        self._playing = Playing(log)
        self._between = BetweenRuns(log)
        self._questions = Questions(log, stored.questions if stored else 0, self._between.objected)
        self._history = stored.history if stored else History()
        self.readiness = Readiness()
        self.equipment = Equipment()
        self.teach = self._history.note
        self._warming = Warming(kernels, self.readiness)
        self._conversation = Conversation(
            model,
            log,
            system=system,
            languages=kernels.languages,
            history=self._history,
            wants_kernel=self._warming.start,
            calls=stored.calls if stored else 0,
        )
        self.budget = self._conversation.budget
        self._tell_conversation()
        self.rewind = self._new_rewind()
        drawn = self._playing.drawn
        proposals = Proposals(log, self._questions, person, drawn, lambda: self.equipment)
        self.voice = Voice(log, self._questions, person, drawn)
        services = Services(self._questions, person, drawn)
        self.offer = services.offer
        runner = self._new_runner(services, stored.last_run if stored else 0)
        self.jobs = Jobs(runner, log, self.teach, lambda: self._playing.busy)
        self._parts = Parts(
            log, self._conversation, kernels, proposals, self.readiness, self.jobs, limits or Limits()
        )
        self._closed = False
        self._stop_listening = kernels.listen(self._between)
        if keeper is not None:
            keeper.begin(log.append, model.name)
            self._history.watchers.append(keeper.change)
        self._resumption = self._resume(stored) if stored else None

    @property
    def limits(self) -> Limits:
        """What bounds a turn. It can be replaced between turns."""
        return self._parts.limits

    @limits.setter
    def limits(self, limits: Limits) -> None:
        self._parts.limits = limits

    @property
    def model(self) -> Model:
        """The model that is asked. It can be changed between turns; who changes it closes the one before."""
        return self._conversation.model

    @model.setter
    def model(self, model: Model) -> None:
        self._conversation.go_on_with(model)

    @property
    def history(self) -> Sequence[Message]:
        """The messages so far, without the system prompt. They can be replaced between turns."""
        return tuple(self._history)

    @history.setter
    def history(self, messages: Sequence[Message]) -> None:
        self._leave()
        self._history.restart(messages)

    @property
    def request(self) -> tuple[Sequence[Message], Sequence[Mapping[str, Any]]]:
        """What the next request sends: the messages, the system prompt first, and the tools."""
        return self._conversation.request

    def brief(self, system: str, *, code: bool = True) -> None:
        """Tell the model `system` from now on; without `code` it has no tool, and no code of it runs."""
        self._playing.check_free()
        self._conversation.brief(system, code=code)

    def know_windows(self, windows: Callable[[str], Window]) -> None:
        """Let the conversation be shortened before the window of its model is full, which `windows` tell."""
        self._conversation.windows = windows

    @property
    def window(self) -> Window:
        """What the model reads at once, as far as that is known."""
        return self._conversation.windows(self.model.name)

    @property
    def expected_tokens(self) -> int:
        """How many tokens the next request has, as a guess that costs nothing: no tokenizer is asked."""
        return self._conversation.expected_tokens

    @property
    def spent_usd(self) -> float | None:
        """What the model's replies have cost; None when the price of one is not known."""
        return self.budget.used.cost_usd

    async def turn(self, prompt: str, attachments: Sequence[Attachment] = ()) -> AsyncGenerator[Event, None]:
        """Everything that happens until the model has answered `prompt`, ending with `TurnFinished`.

        Iterate it under `contextlib.aclosing`. The person is asked once the consumer comes back for the next
        event: all is drawn by then. Closing it early interrupts the turn; the history is complete then, too.
        Where its code does not answer, the session is busy until that ends, or `interrupt` ends its kernel.

        Raises:
            RuntimeError: another turn of this session is going on.
        """
        self._playing.check_free()
        after = self.log.last
        self.log.append(TurnStarted(prompt, tuple(attachment.name for attachment in attachments)))
        for told_of in filter(None, (attachment.told for attachment in attachments)):
            self.log.append(Noticed(told_of))
        notes = self._history.notes
        told = self._resumption.note_among(notes) if self._resumption else tuple(notes)
        untold = self.jobs.untold([message.text for message in self._history] + notes)
        self._history.begin(prompt, attachments, *told, *untold)
        self.readiness.bring(attachments)
        self._forget_left_over()
        async with aclosing(self._playing.play(self._new_turn(), after)) as events:
            async for event in events:
                yield event

    async def go_on(self) -> AsyncGenerator[Event, None]:
        """The last turn goes on: one that broke off when terp ended asks about its `pending` code again.

        Any other lets the model read what `history` ends with, such as the result of a call `outside`. Like
        `turn` in everything else; nothing happens when the model has had the last word.
        """
        self._playing.check_free()
        after = self.log.last
        left_over, step = self._resumption.reopen() if self._resumption else ((), 1)
        if not (left_over or self._history.is_open):
            return
        last = self._history.turns[-1]
        self.log.append(TurnStarted(last.prompt, tuple(one.name for one in last.attachments), goes_on=True))
        # Its code was written for the kernel before.
        self._between.note = (self._resumption and self._resumption.note()) or self._between.note
        async with aclosing(self._playing.play(self._new_turn(left_over, step), after)) as events:
            async for event in events:
                yield event

    async def run(self, language: str, code: str) -> AsyncGenerator[Event, None]:
        """Everything that happens until code the person typed has run; the model hears of it next turn.

        Nobody is asked: only code that the person has typed belongs here. Iterate it as `turn`.

        Raises:
            RuntimeError: a turn of this session is going on.
            UnknownLanguage: nothing here runs `language`.
            KernelBusy: a job has its kernel.
        """
        self._playing.check_free()
        after = self.log.last
        kernel = self.kernels.get(language)
        self.jobs.check_free(kernel)
        call = Call(f"{TYPED}{after + 1}", kernel.language, code)
        typed = TypedRun(self._parts, call, kernel, Interrupts(), self.teach)
        async with aclosing(self._playing.play(typed, after)) as events:
            async for event in events:
                yield event

    async def rerun(self, runs: Sequence[LoggedRun]) -> AsyncGenerator[Event, None]:
        """Run code of a stored session again, in order, and compare: `session_runs` returns all of it.

        The person is asked about each; a refusal leaves one out. It is no part of the conversation: in a
        session that was resumed the model is told with the next message what came of it.
        """
        from terp.session.replay.rerun import Rerun  # noqa: PLC0415  (few sessions are ever run again)

        self._playing.check_free()
        after = self.log.last
        self.log.append(TurnStarted(RERUN_PROMPT))
        as_kept = self._keeper.as_kept if self._keeper else self.equipment.without_secrets
        rerun = Rerun(self._parts, runs, Interrupts(), as_kept)
        try:
            async with aclosing(self._playing.play(rerun, after)) as events:
                async for event in events:
                    yield event
        finally:
            if self._resumption is not None:
                self._resumption.note_again(rerun.note())

    @property
    def turns(self) -> Sequence[PastTurn]:
        """The turns of the conversation, oldest first, without those that are part of a summary."""
        return tuple(self._history.turns)

    @property
    def pending(self) -> Sequence[str]:
        """The code that waited for an answer when the stored session ended; `go_on` asks about it again."""
        return self._resumption.event.pending if self._resumption and self._resumption.left_over else ()

    async def compact(self, focus: str = "") -> bool:
        """Replace all turns before the last by a summary that the model writes; False when interrupted.

        The summary keeps most of what `focus` names; `rewind.undo_compaction` undoes it. A conversation that
        is near the end of its context window is compacted automatically.

        Raises:
            ModelError: there is no summary, or nothing to summarise; the conversation is as it was.
            RuntimeError: a turn of this session is going on.
        """
        self._leave()
        return await self._playing.alone(self._conversation.shortening.asked(focus))

    async def beside(self, prompt: str) -> Assistant:
        """The model's reply to a prompt beside the conversation, of which it knows nothing.

        Raises:
            ModelError: there is none.
        """
        return await self._conversation.reply_to([User(prompt)])

    async def interrupt(self) -> None:
        """Stop the model or the code; its kernel and the variables stay.

        The turn then ends by itself with `TurnFinished("interrupted")`. Code that has not answered for 2 s
        (`KernelChanged`, "interrupting") goes on until a second call ends its kernel. Harmless between turns.
        """
        await self._playing.stop()

    async def idle(self) -> None:
        """Return when no turn is going on."""
        await self._playing.idle()

    def answer(self, question_id: str, answer: Answer, by: str = "another front end") -> bool:
        """Answer an open question in place of the person; False when it is not open any more.

        Raises:
            TypeError: this kind of question wants another kind of answer.
        """
        return self._questions.answer(question_id, answer, by)

    def events(self, after: int | None = None) -> AsyncGenerator[Record, None]:
        """The log's records after number `after`, then every new one, until the session is closed.

        Without a number those since the session was opened; with 0 also those of before it was resumed.
        """
        return self.log.follow(self.log.resumed_at if after is None else after)

    def tell_besides(self, what: Callable[[], Awaitable[str]]) -> None:
        """Let `what` give more text of the system prompt, asked before each request."""
        self._conversation.besides = what

    def play(self, work: Work) -> AsyncGenerator[Event, None]:
        """The events of other work in this session, to its end. As `turn` in everything else."""
        self._playing.check_free()
        return self._playing.play(work, self.log.last)

    async def aclose(self) -> None:
        """End the turn, the kernels and the model's connections. Harmless when called twice."""
        if self._closed:
            return
        self._closed = True
        # Ended from the last one up, each whatever ending another has raised.
        async with AsyncExitStack() as ending:
            if self._keeper is not None:
                ending.callback(self._keeper.close)
            ending.callback(self.log.close)
            ending.push_async_callback(self._conversation.model.aclose)
            ending.push_async_callback(self._playing.last_words)
            ending.push_async_callback(self.equipment.aclose)
            ending.push_async_callback(self.kernels.aclose)
            ending.callback(self._stop_listening)
            ending.callback(self._warming.cancel)
            ending.push_async_callback(self.jobs.aclose)
            await self.interrupt()

    def _new_rewind(self) -> Rewind:
        return Rewind(
            self._history,
            self.log,
            self.kernels,
            copy=self._copy,
            leave=self._leave,
            undo_compaction=self._conversation.shortening.undo,
            alone=self._playing.alone,
        )

    def _new_runner(self, services: Services, last_run: int) -> Runner:
        artifacts = Artifacts(self.folder / OUTPUTS, self.folder, lambda: self.equipment.scrubber())  # noqa: PLW0108  (it comes later)
        services.offer(RUN_OUTPUT, run_outputs(RunLog(self.log), artifacts.spooled))
        runner = Runner(
            self.log,
            artifacts,
            services.type_in,
            services.serve,
            last_run,
            lambda kernel: denials_of(self.equipment.confinement, kernel),
            Leftovers(lambda: self.equipment.confinement).message,
        )
        runner.tells_values = lambda: self.equipment.error_values
        return runner

    def _tell_conversation(self) -> None:
        """Let the conversation know what is decided beside it, whenever it asks."""
        self.budget.limits = lambda: self.limits
        self._conversation.outside = lambda: self.equipment.outside
        self._conversation.demands = lambda: self.equipment.demands
        self._conversation.fills = lambda: new_filling(self.kernels, self.equipment)
        self._conversation.shortening.facts = LiveFacts(self.kernels, self.log).listed

    def _resume(self, stored: Stored) -> "Resumption":
        from terp.session.rewind.resuming import resume  # noqa: PLC0415  (a new session has nothing to go on with)

        return resume(stored, self._conversation, self.kernels, self.log)

    def _leave(self) -> None:
        """The conversation takes another way from here on."""
        self._playing.check_free()
        self._forget_left_over()

    def _forget_left_over(self) -> None:
        """The conversation takes another way than that of the turn that broke off."""
        if self._resumption is not None:
            self._resumption.left_over = ()

    def _copy(self) -> str:
        self._playing.check_free()
        if self._keeper is None:
            raise SessionError("This session is not kept, so there is nothing to fork.")
        return self._keeper.copy()

    def _new_turn(self, left_over: Sequence[tuple[str, ToolCall]] = (), first_step: int = 1) -> Turn:
        return Turn(
            self._parts,
            Interrupts(),
            self._between.text,
            self.equipment.functions,
            left_over,
            first_step,
            self.equipment.without_secrets,
        )
