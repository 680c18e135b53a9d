"""A call that prompts a model: opens its session, sends one prompt, or runs the REPL.

Its imports are slow, so a REPL shows its prompt before this is imported (`terp_cli.repl.first_prompt`).
"""

import asyncio
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from terp.errors import NoModel, SettingsError
from terp.events.messages import Attachment
from terp.models.adapters.discovery import DEFAULT_MODELS
from terp.models.adapters.routing import doubt, route
from terp.models.building import options_of, settings_for, with_found_model, with_offered_model
from terp.opening.chat_session import offer_checkpoint
from terp.opening.supplied import Supplied
from terp.person import AutoRun, Choice, Decline, Nobody, Option, Person
from terp.secrets.keys import checked_key, stored_keys, with_keys
from terp.session.attaching import found_for
from terp.session.attachments import attach, attach_elsewhere, text_room, with_attachments
from terp.session.downloading import downloaded, is_address
from terp.session.emitting import Emission
from terp.session.session import Session
from terp.settings import Settings
from terp.store.places import Place
from terp.text.dataclasses import dataclass, replace
from terp.text.files import make_private
from terp.text.peek import Room
from terp_cli.fronts.invocation import STDIN, Invocation, keep_imports
from terp_cli.fronts.oneshot import OneShotPrompt, one_shot, wanted_by, write_variable
from terp_cli.line.piped import Piped, read_prompt, take_data
from terp_cli.prompt.interface import Pick, PromptReader
from terp_cli.repl.keeping import SessionOpener, person_beside, place_of, prune_soon, resumed_by, what_first
from terp_cli.repl.trusting import settled

if TYPE_CHECKING:
    from terp_cli.repl.first_prompt import PromptTerminal
    from terp_cli.repl.resuming import Resuming
    from terp_cli.repl.terminal_ui import TerminalUI

_SETTLED_S = 1.0
_TO_A_PROGRAM = (
    "The answer goes to a file or a program: if data is asked for, give it alone, without a comment."
)
# As many as there are digits to choose with.
_OFFERED = 9


@dataclass(frozen=True, slots=True)
class ConversationStart:
    """The start of a conversation: its place, its working directory, and its first prompt.

    `emission` is the variable to write in place of an answer.
    """

    place: Place
    cwd: Path
    question: OneShotPrompt
    prelude: str
    resumed: "Resuming | None"
    emission: Emission | None = None


def converse(call: Invocation, settings: Settings) -> int:
    """Answer the prompt of the call, and prompt for more in a REPL; return the exit code."""
    with given_by(call, settings) as given:
        ui = None
        if call.draws:
            from terp_cli.repl.terminal_ui import terminal_ui_of  # noqa: PLC0415  (a pipe needs no terminal)

            ui = terminal_ui_of(call, settings, once=not call.stays)
        return asyncio.run(conversed(call, settings, given, ui))


async def converse_at(call: Invocation, settings: Settings, terminal: "PromptTerminal") -> int:
    """Run a new conversation at a terminal that shows the prompt already; return the exit code."""
    from terp_cli.repl.terminal_ui import TerminalUI  # noqa: PLC0415  (see `converse`)

    with given_by(call, settings) as given:
        return await conversed(call, settings, given, TerminalUI(call, settings, terminal))


@contextmanager
def given_by(call: Invocation, settings: Settings) -> Iterator[ConversationStart]:
    """Yield the start of the call's conversation; a stored session is closed after the block.

    Raises:
        TerpError: an input cannot be used, or there is neither a prompt nor a REPL.
    """
    wanted = wanted_by(call.options)
    resumed = resumed_by(call, settings)
    cwd = resumed.cwd if resumed else call.cwd
    place = place_of(call, resumed)
    elsewhere = bool(settings.gateway_url)
    pipes = call.source == "data" and bool(call.line.words)
    room = text_room(settings, call.environ, len(call.options.file) + pipes)
    prompt, piped = _asked(call, place.folder, room, elsewhere=elsewhere)
    attachments = _attached(call, cwd, room, elsewhere=elsewhere)
    asked = bool(prompt.strip() or attachments or piped)
    if call.line.words and not asked:
        raise SettingsError(["the prompt is empty."])
    first = what_first(call, settings, place, asked=asked)
    if not (asked or first or call.talks):
        raise SettingsError(["there is no prompt: write it after terp, or pipe it in."])
    question = OneShotPrompt(
        with_attachments(prompt, attachments),
        (*attachments, *([piped.attachment] if piped else ())),
        call.out_folder,
        first,
    )
    try:
        yield ConversationStart(place, cwd, question, piped.prelude if piped else "", resumed, wanted)
    finally:
        if place.keeper is not None:
            place.keeper.close()
        if piped:
            # Nothing comes back to this session, and the data may be large and private.
            piped.path.unlink(missing_ok=True)


async def conversed(
    call: Invocation, settings: Settings, given: ConversationStart, ui: "TerminalUI | None"
) -> int:
    """Open the session, answer the prompt, and prompt for more in a REPL; return the exit code."""
    with shown_by_host(call, ui):
        return await _conversed(call, settings, given, ui)


@contextmanager
def shown_by_host(call: Invocation, ui: "TerminalUI | None") -> Iterator[None]:
    """Draw a detached session only while a window shows it, until the block is left."""
    if call.host is None or ui is None or ui.prompt is None:
        yield
        return
    prompt = ui.prompt()
    following = asyncio.create_task(call.host.follow(prompt.away, prompt.redraw))
    try:
        yield
    finally:
        following.cancel()


async def _conversed(
    call: Invocation, settings: Settings, given: ConversationStart, ui: "TerminalUI | None"
) -> int:
    # Before anything of the project counts, and before lines that were entered meanwhile are sent.
    settings = _with_last_model(call, await settled(call, settings, ui), given.place)
    person = ui.person if ui else person_beside(call, settings)
    if ui is None or person is None:
        # A terminal that is drawn on may have no keyboard.
        person = AutoRun(person) if settings.auto_run else person or Nobody()
    if not (settings.model or settings.replay):
        # A mistake in the name of a kernel is reported before a model is looked for.
        await found_for(settings, call.environ, str(given.cwd))
        settings = await _with_model(call, settings, person, ui)
        if call.wants_demo:
            return 0
    if not call.stays:
        # Its answer is all there is: it must not end before its code.
        settings = replace(settings, background_after_s=0.0)
    # A recording is the same wherever its answers go.
    if not (call.out.isatty() or settings.record or settings.replay):
        settings = replace(settings, instructions=f"{settings.instructions}\n{_TO_A_PROGRAM}".strip())

    opener = SessionOpener(call, settings, person, given.cwd, Supplied(prelude=given.prelude))
    session = await opener.open(given.place)
    _note_doubts(call, settings, session)
    keep_imports()
    # By then the prompt is there, or the request is out.
    asyncio.get_running_loop().call_later(_SETTLED_S, call.guard.stay)
    prune_soon(call, settings, session)
    if call.stays:
        from terp_cli.repl.repl import run_conversation  # noqa: PLC0415  (for who stays alone)

        assert ui is not None, "who stays has a terminal"
        question = given.question if given.question.asks else None
        return await run_conversation(opener, session, ui, question)
    if given.resumed:
        given.resumed.report(call, session)
        if given.question.first != "rerun" and (result := await offer_checkpoint(session)):
            call.note(result)
    facts = {"session": given.place.folder.name, "model": session.model.name}
    front = (
        ui.titles.beside(ui.front)
        if ui
        else call.front(facts, lambda: session.budget.used, asks=not settings.auto_run)
    )
    last = partial(write_variable, wanted=given.emission, out=call.out) if given.emission else None
    return await one_shot(session, given.question, front, call.stopping, last)


def _with_last_model(call: Invocation, settings: Settings, place: Place) -> Settings:
    """Return the settings with the last model of a resumed session, unless a flag chooses another one."""
    stored = place.keeper.stored if place.keeper else None
    chosen = call.options.profile or settings.replay or call.line.given.keys() & {"model", "api_base"}
    if stored is None or chosen or stored.model in ("", settings.model):
        return settings
    resumed, api_key = settings_for(stored.model, settings.model, settings, call.options.api_key)
    try:
        route(options_of(resumed, api_key), call.environ)
    except SettingsError:
        # A recording has a name that no provider knows.
        return settings
    return resumed


def _note_doubts(call: Invocation, settings: Settings, session: Session) -> None:
    resources = session.resources
    if doubtful := doubt(session.model.name, settings.api_base):
        call.note(doubtful)
    for line in resources.notices:
        call.note(line)
    if resources.confinement is not None and resources.confinement.warning and not call.stays:
        call.note(resources.confinement.warning)


async def _with_model(
    call: Invocation, settings: Settings, person: Person, ui: "TerminalUI | None"
) -> Settings:
    """Return the settings with a model of the server at `api_base`, or with one that is found.

    `person` chooses among several, and is asked about a server of this machine. At a prompt where none is
    found, the user gives a key, or wants the demo.
    """
    if not settings.api_base:
        environ = with_keys(call.environ)
        try:
            return await with_found_model(settings, environ, person)
        except NoModel:
            if not (call.stays and ui and ui.prompt) or settings.discover == "local":
                raise
            return await first_model(call, settings, environ, ui.prompt(), person)

    async def choose(names: Sequence[str]) -> str:
        offered = {str(number): name for number, name in enumerate(names[:_OFFERED], 1)}
        options = tuple(Option(number, name) for number, name in offered.items())
        answer = await person.choose(Choice(f"Which model of {settings.api_base}?", options))
        if isinstance(answer, Decline):
            return answer.reason if answer.reason in names else ""
        return offered.get(answer, "")

    environ = with_keys(call.environ, "openai/")
    return await with_offered_model(settings, environ, call.options.api_key, choose)


def _attached(call: Invocation, cwd: Path, room: Room, *, elsewhere: bool) -> tuple[Attachment, ...]:
    """Return the call's attachments; addresses are downloaded only after all files were found."""
    addresses = [file for file in call.options.file if is_address(file)]
    files = [file for file in call.options.file if file not in addresses]
    attachments = _of_files(call, files, cwd, room, elsewhere=elsewhere)
    for address in addresses:
        path = downloaded(address, cwd)
        call.note(f"{address} is now in ./{path.name}")
        attachments += _of_files(call, [str(path)], cwd, room, elsewhere=elsewhere)
    return attachments


def _of_files(
    call: Invocation, files: Sequence[str], cwd: Path, room: Room, *, elsewhere: bool
) -> tuple[Attachment, ...]:
    return attach_elsewhere(files) if elsewhere else attach(files, cwd, room, call.report)


def _asked(call: Invocation, folder: Path, room: Room, *, elsewhere: bool) -> tuple[str, Piped | None]:
    """Return the prompt, from the arguments or else from stdin, and the data on stdin beside a prompt."""
    words = " ".join(call.line.words)
    # Arguments that are not in the locale's encoding hold halves of characters, which cannot be sent.
    prompt = words.encode(errors="surrogateescape").decode(errors="replace")
    if call.source != "data":
        return prompt, None
    if call.line.words:
        words_only = room if room.lines is None else None
        private = partial(make_private, folder)
        return prompt, take_data(STDIN, private, call, room=words_only, elsewhere=elsewhere)
    return read_prompt(STDIN, call.warn), None


_TITLE = "No model is configured, no key is set. What do you have?"
_LOCAL = Pick(("a local server", "Ollama, LM Studio, llama.cpp, vLLM or Jan, once it runs"))
_DEMO = Pick(("none of these", "terp demo: a recorded model, a real kernel"))


async def first_model(
    call: Invocation, settings: Settings, environ: Mapping[str, str], prompt: PromptReader, person: Person
) -> Settings:
    """Return the settings with a model for which the user gives a key or starts a server.

    If the user wants the demo, the call notes that, and the settings are unchanged.

    Raises:
        NoModel: the user leaves the list.
    """
    picks = [Pick((f"a key of {provider}", name)) for provider, name in DEFAULT_MODELS]
    picks += [_LOCAL, _DEMO]
    while (at := await prompt.pick(_TITLE, picks)) is not None:
        if picks[at] is _DEMO:
            call.wants_demo = True
            return settings
        try:
            if picks[at] is _LOCAL:
                found = await with_found_model(replace(settings, discover="local"), environ, person)
                return replace(found, discover=settings.discover)
            await _keep_key(call, prompt, DEFAULT_MODELS[at][0])
            return replace(settings, model="/".join(DEFAULT_MODELS[at]))
        except (NoModel, SettingsError) as problem:
            prompt.say(f"{problem.message} {problem.remedy}".rstrip())
        except (EOFError, KeyboardInterrupt):
            continue
    raise NoModel("No model is configured.", "terp keys set PROVIDER stores a key; terp demo needs none.")


async def _keep_key(call: Invocation, prompt: PromptReader, provider: str) -> None:
    typed = await prompt.line(f"Key of {provider} (it is not shown) › ", secret=True)
    where = stored_keys(call.places).set(provider, checked_key(typed.text))
    prompt.say(f"The key of {provider} is in {where}; terp keys delete {provider} removes it.")
