"""The user in an editor: asked by requests for permission, and by forms where the editor has them."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from acp.exceptions import RequestError
from acp.helpers import text_block, tool_content
from acp.schema import (
    AcceptElicitationResponse,
    AllowedOutcome,
    ElicitationFormSessionMode,
    ElicitationSchema,
    ElicitationStringPropertySchema,
    PermissionOption,
    PermissionOptionKind,
    ToolCallUpdate,
)

from terp.errors import NobodyThere
from terp.events import CodeProposed
from terp.kernels.sandbox.tier import is_confined
from terp.person import Choice, Consent, Decline, Option, Run
from terp_cli.terminal.sanitise import visible

if TYPE_CHECKING:
    from terp_cli.acp.session import EditorSession

META = "terp"
"""The key of terp's own fields in `_meta`: the digest of code, a reason to decline, edited code."""
_KINDS: dict[str, PermissionOptionKind] = {
    "y": "allow_once",
    "a": "allow_always",
    "r": "allow_always",
    "n": "reject_once",
}
_YES_NO = (Option("y", "Yes"), Option("n", "No"))
_WHY = "What should the model do instead?"


class EditorPerson:
    """Asks in `editor`. While `always` is set, code in a sandbox runs without approval.

    With `free` it does so without a sandbox, too. Code that is always allowed is known by its digest.
    """

    editor: "EditorSession"

    def __init__(self, *, always: bool, free: bool) -> None:
        self.always = always
        self.free = free
        self._allowed: set[tuple[str, str, str]] = set()

    async def approve(self, proposed: CodeProposed) -> Run | Decline:
        """Return the user's decision about the code with this digest, which the request shows."""
        if self.always and not proposed.asks and (self.free or is_confined(proposed.tier)):
            return Run(proposed.code, by="auto_run")
        same = proposed.language, proposed.digest, proposed.place or proposed.cwd
        if same in self._allowed and not proposed.asks:
            return Run(proposed.code, by="always")
        from terp.analysis.rules.offering import offered  # noqa: PLC0415  (many sessions ask about no code)

        editor, confinement = self.editor, self.editor.session.resources.confinement
        rules = offered(proposed, held=confinement is not None and confinement.holds).rules
        named = "; ".join(f"{visible(text)} ({means})" for text, means in rules) or "exactly this code"
        once, always = f"once:{proposed.digest}", f"always:{proposed.digest}"
        options = [
            _option(once, "Run", "allow_once"),
            _option(always, f"Always run {named}", "allow_always"),
            _option("decline", "Decline", "reject_once"),
            _option("stop", f"Decline, and {'say why' if editor.has_forms else 'stop'}", "reject_once"),
        ]
        if proposed.asks:
            # The user is asked each time.
            del options[1]
        chosen, meta = await self._asked(editor.sender.call_of(proposed), options, digest=proposed.digest)
        if chosen in (once, always):
            edited = meta.get("code")
            if isinstance(edited, str) and edited != proposed.code:
                # It is proposed, and asked about, again.
                return Run(edited)
            if chosen == always and not rules:
                self._allowed.add(same)
            return Run(proposed.code, rules=tuple(text for text, _ in rules) if chosen == always else ())
        reason = str(meta.get("reason") or "")
        if chosen == "stop" and not reason and editor.has_forms:
            reason = await self._line(_WHY) or ""
        # Without words, the next prompt is the reason.
        return Decline(reason, stop=chosen != "decline" and not reason)

    async def allow(self, request: Consent) -> bool | Decline:
        """Return the user's consent to something that is not code."""
        if request.as_code and self.always:
            return True
        answer = await self.choose(Choice(request.what, _YES_NO, request.why))
        return answer if isinstance(answer, Decline) else answer == "y"

    async def choose(self, choice: Choice) -> str | Decline:
        """Return the letter of the chosen option; "" if the user chooses none."""
        if choice.as_code and self.always:
            return choice.as_code
        lines = "\n".join(filter(None, (choice.what, choice.why)))
        call = ToolCallUpdate(
            tool_call_id=self.editor.sender.call_id,
            title=visible(choice.what.partition("\n")[0]),
            content=[tool_content(text_block(visible(lines)))],
        )
        options = [
            _option(one.letter, visible(one.does), _KINDS.get(one.letter, "allow_once"))
            for one in choice.options
        ]
        chosen, meta = await self._asked(call, options)
        if reason := meta.get("reason"):
            return Decline(str(reason))
        return chosen if chosen in (one.letter for one in choice.options) else ""

    async def type_in(self, prompt: str, *, secret: bool) -> str:
        """Return a line for code that waits in `input()`.

        Raises:
            NobodyThere: the editor has no forms, the line is a secret, or the user gave none.
        """
        if secret or not self.editor.has_forms:
            what = "a secret" if secret else "a line"
            raise NobodyThere(f"The code asked for {what}, for which this editor has no form.")
        line = await self._line(prompt or "The code asks for a line.")
        if line is None:
            raise NobodyThere("The user gave no line.")
        return line

    async def _asked(
        self, call: ToolCallUpdate, options: Sequence[PermissionOption], **meta: str
    ) -> tuple[str, dict[str, Any]]:
        """Return the id of the chosen option, "" for none, and terp's own fields of the answer."""
        sender, own = self.editor.sender, {META: meta} if meta else {}
        await sender.drawn()
        try:
            answer = await self.editor.client.request_permission(
                self.editor.session.folder.name, sender.clean(call), list(options), **own
            )
        except RequestError as error:
            raise NobodyThere(f"The editor cannot ask: {error}.") from error
        outcome, told = answer.outcome, (answer.field_meta or {}).get(META)
        chosen = outcome.option_id if isinstance(outcome, AllowedOutcome) else ""
        if chosen not in (one.option_id for one in options):
            chosen = ""
        return chosen, told if isinstance(told, dict) else {}

    async def _line(self, prompt: str) -> str | None:
        """Return a line that the user types into a form; None if they close it."""
        await self.editor.sender.drawn()
        schema = ElicitationSchema(
            type="object",
            properties={"line": ElicitationStringPropertySchema(type="string")},
            required=["line"],
        )
        mode = ElicitationFormSessionMode(session_id=self.editor.session.folder.name, requested_schema=schema)
        try:
            answer = await self.editor.client.create_elicitation(visible(prompt), mode)
        except RequestError:
            return None
        accepted = answer.content if isinstance(answer, AcceptElicitationResponse) else None
        line = (accepted or {}).get("line")
        return line if isinstance(line, str) else None


def _option(option_id: str, name: str, kind: PermissionOptionKind) -> PermissionOption:
    return PermissionOption(option_id=option_id, name=name, kind=kind)
