"""`Session`: a conversation, its kernels and the person behind them."""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping, Sequence
from contextlib import aclosing
from pathlib import Path
from typing import Any, TypeVar

from terp.artifacts import Artifacts
from terp.conversation import Conversation
from terp.errors import KernelStartFailed, NobodyThere, TerpError
from terp.events import Event, KernelChanged, KernelState, LateOutput, TurnFinished, TurnStarted
from terp.headtail import HeadTail
from terp.interrupts import Interrupted, Interrupts
from terp.kernels.protocol import Kernel, Kernels
from terp.languages import language_of
from terp.limits import Limits
from terp.log import EventLog, Record
from terp.messages import Attachment, Message, User
from terp.models.protocol import Model
from terp.outputs import BackCall, InputRequest, Output, Text
from terp.past_runs import PastRun, as_answer, find_run, past_runs
from terp.person import Consent, Person
from terp.plain import without_escapes
from terp.proposals import Proposals
from terp.questions import Answer, Questions
from terp.runs import Runner
from terp.turn import Turn

T = TypeVar("T")
Service = Callable[[Mapping[str, Any]], Awaitable[Any]]
_LATE_CHARS = 2_000


class Session:
    """A conversation with a model that runs code in kernels, with a person in charge.

    `folder` takes pictures and full outputs; it is made when the first of them is written.
    All parts are closed by `aclose`.
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
        history: Sequence[Message] = (),
    ) -> None:
        self.log = EventLog()
        self.kernels = kernels
        self.limits = limits or Limits()
        self.folder = folder
        self._person = person
        self._services: dict[str, Service] = {"run_output": self._run_output}
        self._questions = Questions(self.log)
        self._conversation = Conversation(
            model,
            self.log,
            system=system,
            languages=kernels.languages,
            history=history,
            wants_kernel=self._warm,
        )
        self._proposals = Proposals(self.log, self._questions, person, self._drawn)
        self._runner = Runner(self.log, Artifacts(folder), self._type_in, self._serve)
        self._late = HeadTail(_LATE_CHARS)
        self._pulled = 0
        self._closed = False
        self._turn: Turn | None = None
        self._warming: set[asyncio.Task[None]] = set()
        self._stop_listening = kernels.listen(self)

    @property
    def model(self) -> Model:
        """The model that is asked. It can be changed between turns; who changes it closes the one before."""
        return self._conversation.model

    @model.setter
    def model(self, model: Model) -> None:
        self._conversation.go_on_with(model)

    @property
    def history(self) -> Sequence[Message]:
        """The messages so far, without the system prompt."""
        return tuple(self._conversation.messages)

    @history.setter
    def history(self, messages: Sequence[Message]) -> None:
        self._conversation.messages[:] = messages

    @property
    def runs(self) -> Sequence[PastRun]:
        """The runs of this session, oldest first, also one that goes on."""
        return past_runs(record.event for record in self.log.since(0))

    def run(self, number: int) -> PastRun:
        """The run with this number, which is over; -1 is the last one.

        Raises:
            UnknownRun: there is none; the message tells which there are.
        """
        return find_run(self.runs, number)

    @property
    def spent_usd(self) -> float | None:
        """What the model's replies have cost; None when the price of one is not known."""
        return None if self._conversation.unpriced else self._conversation.spent_usd

    async def turn(self, prompt: str, attachments: Sequence[Attachment] = ()) -> AsyncGenerator[Event, None]:
        """Everything that happens until the model has answered `prompt`, ending with `TurnFinished`.

        Iterate it under `contextlib.aclosing`. The person is asked only after the consumer has come
        back for the next event, so what is asked about has been drawn. A consumer that closes the
        generator early interrupts the turn; the history is complete all the same.

        Raises:
            RuntimeError: another turn of this session is going on.
        """
        if self._turn is not None:
            raise RuntimeError("another turn of this session is going on")
        after = self._pulled = self.log.last
        turn = self._turn = Turn(
            self._conversation,
            self.kernels,
            self._proposals,
            self._runner,
            self.limits,
            self.log,
            Interrupts(),
            self._late_text,
        )
        self.log.append(TurnStarted(prompt, tuple(attachment.name for attachment in attachments)))
        self._conversation.messages.append(_said(prompt, attachments))
        task = asyncio.create_task(turn.run())
        task.add_done_callback(lambda _: self.log.wake())
        try:
            async with aclosing(self._follow(after, task)) as records:
                async for record in records:
                    yield record.event
                    if isinstance(record.event, TurnFinished):
                        # What a kernel does from here on belongs to no turn; it is in the log.
                        break
            await task
        finally:
            if not task.done():
                await turn.stop()
                await asyncio.wait({task})
            self._turn = None
            # Whoever waits for this turn, to be drawn or to be over, waits no more.
            self.log.wake()

    async def interrupt(self) -> None:
        """Stop the model or the code; its kernel and the variables stay.

        The turn then ends by itself with `TurnFinished("interrupted")`. Harmless between turns.
        """
        if self._turn is not None:
            await self._turn.stop()

    async def idle(self) -> None:
        """Return when no turn is going on."""
        while self._turn is not None:
            await self.log.changed()

    def answer(self, question_id: str, answer: Answer, by: str = "another front end") -> bool:
        """Answer an open question in place of the person; False when it is not open any more.

        Raises:
            TypeError: this kind of question wants another kind of answer.
        """
        return self._questions.answer(question_id, answer, by)

    def events(self, after: int = 0) -> AsyncGenerator[Record, None]:
        """The log's records after number `after`, then every new one, until the session is closed."""
        return self.log.follow(after)

    def offer(self, name: str, service: Service) -> None:
        """Let code in the kernels call `service` by `name`; what it raises is raised there."""
        self._services[name] = service

    async def allow(self, request: Consent) -> bool:
        """Ask the person for consent to something other than running code."""

        async def ask() -> bool:
            await self._drawn()
            return await self._person.allow(request)

        return bool(await self._questions.ask("consent", request.what, ask))

    async def aclose(self) -> None:
        """End the turn, the kernels and the model's connections. Harmless when called twice."""
        if self._closed:
            return
        self._closed = True
        await self.interrupt()
        for task in self._warming:
            task.cancel()
        self._stop_listening()
        try:
            await self.kernels.aclose()
        finally:
            await self._conversation.model.aclose()
            self.log.close()

    def changed(self, language: str, state: KernelState, why: str) -> None:
        """A kernel changed its state (`KernelListener`)."""
        self.log.append(KernelChanged(language, state, why))

    def late_output(self, run_id: str, output: Output) -> None:
        """Output of a run that had ended (`KernelListener`); the model reads it with the next result."""
        self.log.append(LateOutput(run_id, output))
        if isinstance(output, Text):
            self._late.add(without_escapes(output.text))

    async def _follow(self, after: int, task: asyncio.Task[None]) -> AsyncGenerator[Record, None]:
        while True:
            done = task.done()
            for record in self.log.since(after):
                after = record.number
                yield record
                self._pulled = after
                self.log.wake()
            if self.log.last > after:
                continue
            if done:
                return
            await self.log.changed()

    async def _drawn(self) -> None:
        """Return when the consumer of the turn has taken, and come back after, all that is logged."""
        number = self.log.last
        while self._turn is not None and self._pulled < number:
            await self.log.changed()

    def _late_text(self) -> str:
        if self._late.empty:
            return ""
        text = self._late.text().rstrip("\n")
        self._late.clear()
        return f"[an earlier run put out after its end:]\n{text}\n[this run:]\n"

    def _warm(self, language: str) -> None:
        named = language_of(language, self.kernels.languages)
        if not named or self.kernels.get(named).generation:
            return
        kernel = self.kernels.get(named)
        task = asyncio.create_task(self._started(kernel))
        self._warming.add(task)
        task.add_done_callback(self._warming.discard)

    async def _started(self, kernel: Kernel) -> None:
        try:
            await kernel.start()
        except KernelStartFailed:
            # The run that needs the kernel meets the same failure and tells it; here nobody waits.
            return

    async def _type_in(self, request: InputRequest, kernel: Kernel) -> str:
        async def ask() -> str:
            await self._drawn()
            return await self._person.type_in(request.prompt, secret=request.secret)

        question = self._questions.ask("input", request.prompt, ask, secret=request.secret)
        try:
            line = await self._guarded(question)
        except Interrupted:
            return ""
        except NobodyThere as nobody:
            await kernel.type_in(None)
            return f"{nobody.message} It got end of file; do not use input()."
        await kernel.type_in(line)
        return ""

    async def _run_output(self, arguments: Mapping[str, Any]) -> Mapping[str, Any]:
        return as_answer(self.run(int(arguments["number"])))

    async def _serve(self, call: BackCall, kernel: Kernel) -> None:
        service = self._services.get(call.service)
        if service is None:
            await kernel.answer(None, f"terp has no service {call.service!r} here")
            return
        try:
            await kernel.answer(await self._guarded(service(call.arguments)))
        except Interrupted:
            return
        except TerpError as error:
            await kernel.answer(None, error.message)
        except Exception as error:  # noqa: BLE001  # whatever a service raises belongs to the code that called it
            await kernel.answer(None, f"{type(error).__name__}: {error}")

    async def _guarded(self, answer: Awaitable[T]) -> T:
        """What a run of the turn waits for, unless the turn is interrupted."""
        assert self._turn is not None, "only a run of a turn asks for anything"
        return await self._turn.interrupts.guard(answer)


def _said(prompt: str, attachments: Sequence[Attachment]) -> User:
    notes = [attachment.note for attachment in attachments if attachment.note]
    images = tuple(attachment.image for attachment in attachments if attachment.image)
    return User("\n\n".join([prompt, *notes]) if notes else prompt, images)
