"""The user at a terminal: approvals of code, other consents, and lines for `input()`."""

import asyncio
import os
import signal
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from textwrap import fill
from typing import TYPE_CHECKING

from terp.analysis.edits import spelled_edits
from terp.errors import NobodyThere, TerpError
from terp.events import CodeProposed
from terp.kernels.sandbox.tier import is_confined
from terp.person import Choice, Consent, Decline, Option, Run
from terp.settings.places import find_places
from terp_cli.fronts.interactive import InteractiveFront
from terp_cli.prompt.interface import CardLine, PromptReader, Typed, letter_of, numbered
from terp_cli.render.sentences import effects_in_words, effects_line
from terp_cli.repl.commands.every import all_commands
from terp_cli.repl.commands.table import Commands
from terp_cli.terminal.desktop import copied
from terp_cli.terminal.sanitise import lookalikes, one_line, readable, visible

if TYPE_CHECKING:
    from terp.analysis.rules.offering import Offer
    from terp.settings.rule_file import RuleKeeper
    from terp_cli.repl.context import ReplContext

CHOICES = (
    Option("y", "run it"),
    Option("n", "do not run it"),
    Option("e", "edit it; it is shown again before it runs"),
    Option("a", "run this and everything else in this session without asking"),
    Option("r", "run it, and such code from now on in this session; the rule is shown first"),
    Option("x", "let the model explain it"),
    Option("c", "copy it"),
    Option("v", "show all of it"),
)
CONSENT = (Option("y", "yes"), Option("n", "no"))
_ESCAPE = "Esc does not run it either; Ctrl-C ends the turn."
_LONGER = "Anything longer does not run it, and is sent to the model."
_WORDS_ARE_NO = "Any words are a no, and are sent to the model."
# The same letters in the same order, in words that fit into a row.
_SHORT = tuple(
    Option(word[0] if word != "explain" else "x", word)
    for word in ("yes", "no", "edit", "always", "rule", "explain", "copy", "view")
)
# Code may ask with a megabyte, which would be painted again at each key.
_LONGEST_PROMPT = 2_000
_UNASKED = "Code runs without asking from now on. /auto_run off: you are asked again."
_FREE = "This kernel runs without a sandbox."
_CONFINABLE = "/auto_run on offers to restart it in one."
_UNASKED_ONCE = "Code runs without asking until terp exits. Ctrl-C stops it."
_RULED = "It runs now, and from now on in this session without asking:"
_PASTED = "A paste cannot approve. Type the letter."
_CALM = (None, "reads", "writes")
_MEANT = {**dict.fromkeys(("yes", "ok", "okay", "sure", "run", "yep", "yeah"), "y"), "no": "n", "nope": "n"}
_BESIDE = "Commands that only show something, as /vars does, can be used here, too."
_NO_COMMANDS = "Commands and code of your own cannot be entered here. ? lists the answers."


class TerminalPerson:
    """Asks at the terminal that `front` draws on.

    While a question is open Ctrl-C arrives as a key; `interrupted` passes it on, as the signal it is
    otherwise.

    `prompt` returns the terminal's one prompt, which it opens at its first call.

    With `once`, declining ends the turn: a one-shot call has no next turn. With `draws`, the code is drawn
    before the question, because no front end draws the turn on this terminal. With `spoken`
    the choices are numbered and read out.

    While `front.asks` is False, code runs without approval, unless a rule asks about it. In a REPL, `context`
    runs commands that are entered at a question, and lets the model explain code.
    """

    def __init__(
        self,
        front: InteractiveFront,
        prompt: Callable[[], PromptReader],
        *,
        interrupted: Callable[[], None] = lambda: signal.raise_signal(signal.SIGINT),
        once: bool = False,
        draws: bool = False,
        spoken: bool = False,
        environ: Mapping[str, str] = os.environ,
    ) -> None:
        self._front = front
        self._prompt = prompt
        self._once = once
        self._draws = draws
        self._environ = environ
        self._interrupted = interrupted
        self._spoken = spoken
        self.context: ReplContext | None = None

    async def approve(self, proposed: CodeProposed) -> Run | Decline:
        """Return the user's decision about the code on the screen; `a` also approves all later code."""
        if not (self._front.asks or proposed.asks):
            return Run(proposed.code, by="auto_run")
        if self._draws:
            self._front.aside(proposed)
        with self._front.asking():
            while True:
                choices = self._choices(proposed)
                short = [one for one in _SHORT if one.letter in [choice.letter for choice in choices]]
                typed = await self._asked(self._card(proposed), choices, free=_LONGER, short=short)
                if typed is None:
                    return Decline("", stop=True)
                decision = await self._decided(proposed, typed, choices)
                if decision is not None:
                    return decision

    async def allow(self, request: Consent) -> bool | Decline:
        """Return the user's consent to an action that is not code; words decline it with a reason."""
        if request.as_code and not self._front.asks:
            return True
        answer = await self.choose(Choice(request.what, CONSENT, request.why))
        return answer if isinstance(answer, Decline) else answer == "y"

    async def choose(self, choice: Choice) -> str | Decline:
        """Return the letter of the chosen option; a pasted answer never consents."""
        if choice.as_code and not self._front.asks:
            return choice.as_code
        if choice.rules:
            choice = self._with_keeping(choice)
        card: list[CardLine] = [("question", readable(choice.what))]
        card += [("", readable(choice.why))] if choice.why else []
        with self._front.asking():
            while True:
                typed = await self._asked(card, choice.options, preset=choice.otherwise)
                if typed is None:
                    return ""
                answer = await self._chosen(choice, typed)
                if answer is not None:
                    said = next((one.does for one in choice.options if one.letter == answer), typed.text)
                    self._prompt().settle(self._broken(readable(f"{choice.what} › {said}")))
                    return self._keep(choice) if answer == "k" and choice.rules else answer

    async def _chosen(self, choice: Choice, typed: Typed) -> str | Decline | None:
        """Return the answer to a question that is not about code; None to ask again."""
        answer = self._letter(typed.text, choice.options) or choice.otherwise
        if answer in (option.letter for option in choice.options):
            if not typed.pasted or answer == "n":
                return answer
            self._say(_PASTED)
        elif _MEANT.get(answer) == "n":
            return ""
        elif _means_terp(answer):
            await self._do_beside(typed.text.strip())
        elif len(answer) > 1 and answer not in _MEANT:
            return Decline(typed.text.strip())
        elif answer:
            self._say(*(f"{option.letter}  {option.does}" for option in choice.options), _WORDS_ARE_NO)
        return None

    async def type_in(self, prompt: str, *, secret: bool) -> str:
        """Return a line for code that waits in `input()`; a secret is not echoed.

        Raises:
            NobodyThere: Ctrl-D, or the terminal is gone.
        """
        with self._front.asking():
            try:
                shown = prompt if len(prompt) <= _LONGEST_PROMPT else f"… {prompt[-_LONGEST_PROMPT:]}"
                typed = await self._prompt().line(readable(shown), secret=secret, fresh=secret)
            except EOFError:
                raise NobodyThere("The user ended the input with Ctrl-D.") from None
            except KeyboardInterrupt:
                await self._interrupt()
                raise NobodyThere("The user pressed Ctrl-C.") from None
            return typed.text

    async def _decided(
        self, proposed: CodeProposed, typed: Typed, choices: Sequence[Option]
    ) -> Run | Decline | None:
        answer = self._letter(typed.text, choices)
        if _means_terp(answer):
            await self._do_beside(typed.text.strip())
        elif len(answer) > 1:
            return Decline(typed.text.strip())
        elif typed.pasted:
            self._say(_PASTED)
        else:
            return await self._decided_by_letter(proposed, answer, choices)
        return None

    async def _decided_by_letter(
        self, proposed: CodeProposed, letter: str, choices: Sequence[Option]
    ) -> Run | Decline | None:
        match letter:
            case "y" | "a":
                return self._agreed(proposed, always=letter == "a")
            case "n":
                return Decline("", stop=self._once)
            case "e":
                return await self._edited(proposed)
            case "r":
                return await self._ruled(proposed)
            case "x":
                await self._explain(proposed)
            case "c":
                self._say(f"Copied {await copied(proposed.code, self._environ, self._prompt().emit)}.")
            case "v":
                self._front.whole_code()
            case _ if letter:
                known = [_BESIDE] if self.context else []
                self._say(
                    *(f"{choice.letter}  {choice.does}" for choice in choices), _LONGER, _ESCAPE, *known
                )
        return None

    def _agreed(self, proposed: CodeProposed, *, always: bool) -> Run:
        if always:
            self._front.asks = False
            self._say(_UNASKED_ONCE if self._once else _UNASKED)
            # A kernel in which no code has run yet begins again, in the sandbox.
            if not (self._once or is_confined(proposed.tier) or self._will_be_confined(proposed.language)):
                self._say(f"{_FREE} {_CONFINABLE}" if self._has_sandbox() else _FREE)
        return Run(proposed.code)

    async def _ruled(self, proposed: CodeProposed) -> Run | Decline | None:
        """Return consent together with the offered rules; None if there are none, or the user wants none."""
        offer = self._offer(proposed)
        if not offer.rules:
            self._front.say(offer.why)
            return None
        lines = [f"  {one_line(text)} – {means}" for text, means in offer.rules]
        what = "\n".join([_RULED, *lines, "Do you want that?"])
        answer = await self.choose(Choice(what, CONSENT, rules=offer.texts))
        if isinstance(answer, Decline):
            return answer
        return Run(proposed.code, rules=offer.texts) if answer == "y" else None

    def _offer(self, proposed: CodeProposed) -> "Offer":
        from terp.analysis.rules.offering import offered  # noqa: PLC0415  (not where code runs unasked)

        return offered(proposed, held=self._holds_effects())

    def _choices(self, proposed: CodeProposed) -> Sequence[Option]:
        """Return the answers to the question about code, without those that are of no use.

        "r" needs a rule that could have allowed the code, "v" some code that is not shown.
        """
        useless = {
            *(() if self._offer(proposed).rules else "r"),
            *(() if self._front.folds_code else "v"),
        }
        return [choice for choice in CHOICES if choice.letter not in useless]

    def _with_keeping(self, choice: Choice) -> Choice:
        """Return a question about rules with an option to keep them, and with the lines that are written."""
        try:
            place, lines = self._keeper().preview(choice.rules)
        except TerpError as error:
            return replace(choice, why=f"{choice.why}\n{error.message}".lstrip())
        shown = [f"k also adds to {place}:", *(f"  {one_line(line)}" for line in lines)]
        keep = Option("k", "keep it")
        return replace(
            choice,
            options=(*choice.options[:-1], keep, choice.options[-1]),
            why="\n".join([choice.why, *shown]).lstrip(),
        )

    def _keep(self, choice: Choice) -> str:
        """Write rules to the user's settings; return the answer that adds them to the session."""
        try:
            self._say(f"Added to {self._keeper().keep(choice.rules)}.")
        except TerpError as error:
            self._say(error.message)
        return "r" if any(option.letter == "r" for option in choice.options) else "y"

    def _keeper(self) -> "RuleKeeper":
        from terp.settings.rule_file import RuleKeeper  # noqa: PLC0415  (few questions are about rules)

        return RuleKeeper(find_places(self._environ).config_file)

    def _letter(self, text: str, choices: Sequence[Option]) -> str:
        """Return the letter for the typed word or number; else the typed text in small letters."""
        answer = text.strip().lower()
        letter = _MEANT.get(answer.rstrip(".!"), answer)
        if letter in (option.letter for option in choices):
            return letter
        return letter_of(answer, choices)

    def _will_be_confined(self, language: str) -> bool:
        return self.context is not None and is_confined(self.context.session.kernels.get(language).tier)

    def _holds_effects(self) -> bool:
        confinement = self.context.session.resources.confinement if self.context else None
        return confinement is not None and confinement.holds

    def _has_sandbox(self) -> bool:
        confinement = self.context.session.resources.confinement if self.context else None
        return confinement is not None and is_confined(confinement.what)

    async def _explain(self, proposed: CodeProposed) -> None:
        if self.context is None:
            self._say("There is no model to explain it.")
            return
        try:
            self._front.say(await self.context.explain(proposed.language, proposed.code))
        except TerpError as error:
            self._front.say(error.message)

    async def _do_beside(self, line: str) -> None:
        if self.context is None:
            self._say(_NO_COMMANDS)
            return
        try:
            if not await all_commands(self.context.own_commands).run(self.context, line, asked=True):
                raise TerpError("Code of your own has to wait until the question is answered.")
        except TerpError as error:
            self._front.say(error.message, *([error.remedy] if error.remedy else []))

    async def _edited(self, proposed: CodeProposed) -> Run | None:
        """Return the edited code, which is proposed again; None if it is unchanged."""
        editor = self._environ.get("VISUAL") or self._environ.get("EDITOR")
        if editor:
            code = await self._prompt().edited_with(editor, proposed.code, proposed.language)
        elif visible(proposed.code) != proposed.code:
            self._say("The code has invisible characters. Set EDITOR to a program that shows them.")
            return None
        else:
            code = await self._prompt().edited(proposed.code)
        if code is None or code == proposed.code:
            self._say("Nothing was changed.")
            return None
        return Run(code)

    def _card(self, proposed: CodeProposed) -> list[CardLine]:
        tier = "No sandbox" if proposed.tier == "none" else f"Sandbox: {one_line(proposed.tier)}"
        where = ", in ".join(one_line(part) for part in (proposed.cwd, proposed.place) if part)
        card: list[CardLine] = [("warning", f"! {line}.") for line in lookalikes(proposed.code)]
        if self._front.cards:
            edits = spelled_edits(proposed.language, proposed.code, proposed.cwd)
            grave = any(kind not in _CALM for kind, _ in effects_in_words(proposed.effects))
            line = f"expected: {effects_line(proposed.effects, edits)}"
            card.append(("warning" if grave else "quiet", line))
        if proposed.asks:
            card.append(("", f"You are still asked: {one_line(proposed.asks)}."))
        return [*card, ("question", f"Run this in {where}? {tier}.")]

    def _broken(self, text: str) -> str:
        """Return lines of terp, broken between words."""
        return "\n".join(fill(line, self._prompt().width - 2) for line in text.split("\n"))

    async def _asked(
        self,
        card: Sequence[CardLine],
        options: Sequence[Option],
        *,
        free: str = "",
        short: Sequence[Option] = (),
        preset: str = "",
    ) -> Typed | None:
        """Return the answer to a card; None for Ctrl-C, Ctrl-D, or a terminal that is gone."""
        lines: list[CardLine] = [(style, self._broken(line)) for style, line in card]
        try:
            if not self._spoken:
                return await self._prompt().choose(lines, short or options, escape="n", preset=preset)
            said = self._broken(numbered(options, free=free))
            return await self._prompt().line(
                "\n".join([*(line for _, line in lines), f"{said} "]), escape="n"
            )
        except EOFError:
            return None
        except KeyboardInterrupt:
            await self._interrupt()
            return None

    async def _interrupt(self) -> None:
        self._interrupted()
        # Interrupting the turn takes the question back, by cancelling it here.
        await asyncio.sleep(1)

    def _say(self, *lines: str) -> None:
        self._prompt().say("".join(f"{line}\n" for line in lines))


def _means_terp(answer: str) -> bool:
    """Return True for input meant for terp itself: a command, or the user's own code."""
    return answer.startswith((">>>", "!", "%%")) or ("\n" not in answer and Commands.are_in(answer))
