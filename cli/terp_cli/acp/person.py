"""The user in an editor: asked by requests for permission, and by forms where the editor has them."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from acp import helpers, schema
from acp.exceptions import RequestError
from pydantic import ValidationError

from terp.errors import NobodyThere
from terp.events import CodeProposed
from terp.kernels.sandbox.tier import is_confined
from terp.person import Choice, Consent, Decline, Option, Run
from terp_cli.terminal.sanitise import visible

if TYPE_CHECKING:
    from terp_cli.acp.session import EditorSession

META = "terp"
"""The key of terp's own fields in `_meta`: the digest of code, a reason to decline, edited code."""
FAILED = (RequestError, ValidationError)
"""The editor answered with an error, or with something else than an answer."""
_YES_NO = (Option("y", "Yes"), Option("n", "No"))


class EditorPerson:
    """Asks in `editor`. While `always` is set, code in a sandbox runs without approval.

    With `free` it does so without a sandbox, too. Code that is always allowed is known by its digest.
    """

    editor: "EditorSession"

    def __init__(self, *, free: bool) -> None:
        self.always = self.free = free
        self._allowed: set[tuple[str, str, str]] = set()

    async def approve(self, proposed: CodeProposed) -> Run | Decline:
        """Return the user's decision about the code with this digest, which the request shows."""
        same = proposed.language, proposed.digest, proposed.place or proposed.cwd
        unasked = self.always and (self.free or is_confined(proposed.tier))
        if not proposed.asks and (unasked or same in self._allowed):
            return Run(proposed.code, by="auto_run" if unasked else "always")
        from terp.analysis.rules.offering import offered  # noqa: PLC0415  (many sessions ask about no code)

        confinement = self.editor.session.resources.confinement
        rules = offered(proposed, held=confinement is not None and confinement.holds).rules
        named = "; ".join(f"{visible(text)} ({means})" for text, means in rules) or "exactly this code"
        once, always = f"once:{proposed.digest}", f"always:{proposed.digest}"
        how = "say why" if self.editor.has_forms else "stop"
        options = {
            once: ("Run", "allow_once"),
            **({} if proposed.asks else {always: (f"Always run {named}", "allow_always")}),
            "decline": ("Decline", "reject_once"),
            "stop": (f"Decline, and {how}", "reject_once"),
        }
        await self.editor.sender.drawn()
        call = self.editor.sender.updates.calls[proposed.call_id].update()
        chosen, meta = await self._asked(call, options, digest=proposed.digest)
        if chosen in (once, always):
            edited = meta.get("code")
            if isinstance(edited, str) and edited != proposed.code:
                # It is proposed, and asked about, again.
                return Run(edited)
            if chosen == always and not rules:
                self._allowed.add(same)
            return Run(proposed.code, rules=tuple(text for text, _ in rules) if chosen == always else ())
        reason = str(meta.get("reason") or "")
        if chosen == "stop" and not reason:
            reason = await self._line("What should the model do instead?") or ""
        # Without words, the next prompt is the reason.
        return Decline(reason, stop=chosen != "decline" and not reason)

    async def allow(self, request: Consent) -> bool | Decline:
        """Return the user's consent to something that is not code."""
        answer = await self.choose(Choice(request.what, _YES_NO, request.why, as_code="y" * request.as_code))
        return answer if isinstance(answer, Decline) else answer == "y"

    async def choose(self, choice: Choice) -> str | Decline:
        """Return the letter of the chosen option; "" if the user chooses none."""
        if choice.as_code and self.always:
            return choice.as_code
        lines = visible("\n".join(filter(None, (choice.what, choice.why))))
        call = schema.ToolCallUpdate(
            tool_call_id=self.editor.sender.call_id,
            title=lines.partition("\n")[0],
            content=[helpers.tool_content(helpers.text_block(lines))],
        )
        options = {one.letter: (visible(one.does), _kind_of(one)) for one in choice.options}
        chosen, meta = await self._asked(call, options)
        return Decline(str(meta["reason"])) if meta.get("reason") else chosen

    async def type_in(self, prompt: str, *, secret: bool) -> str:
        """Return a line for code that waits in `input()`.

        Raises:
            NobodyThere: the editor has no forms, the line is a secret, or the user gave none.
        """
        line = None if secret else await self._line(prompt or "The code asks for a line.")
        if line is None:
            raise NobodyThere("The code asked for input, and the editor gave no line.")
        return line

    async def _asked(
        self, call: schema.ToolCallUpdate, options: Mapping[str, tuple[str, str]], **meta: str
    ) -> tuple[str, dict[str, Any]]:
        """Return the id of the chosen option, "" for none, and terp's own fields of the answer."""
        sender, own = self.editor.sender, {META: meta} if meta else {}
        rows = [{"optionId": id_, "name": name, "kind": kind} for id_, (name, kind) in options.items()]
        offered = [schema.PermissionOption.model_validate(row) for row in rows]
        await sender.drawn()
        try:
            answer = await self.editor.client.request_permission(
                self.editor.id, sender.clean(call), offered, **own
            )
        except FAILED as error:
            raise NobodyThere(f"The editor cannot ask: {str(error)[:200]}.") from error
        outcome, fields = answer.outcome, (answer.field_meta or {}).get(META)
        chosen = outcome.option_id if isinstance(outcome, schema.AllowedOutcome) else ""
        return chosen if chosen in options else "", fields if isinstance(fields, dict) else {}

    async def _line(self, prompt: str) -> str | None:
        """Return a line that the user types into a form; None if they close it, or there are no forms."""
        if not self.editor.has_forms:
            return None
        await self.editor.sender.drawn()
        fields: Any = {"line": schema.ElicitationStringPropertySchema(type="string")}
        asked = schema.ElicitationSchema(type="object", properties=fields, required=["line"])
        mode = schema.ElicitationFormSessionMode(session_id=self.editor.id, requested_schema=asked)
        try:
            answer = await self.editor.client.create_elicitation(visible(prompt), mode)
        except FAILED:
            return None
        content = answer.content if isinstance(answer, schema.AcceptElicitationResponse) else None
        line = (content or {}).get("line")
        return line if isinstance(line, str) else None


def _kind_of(option: Option) -> str:
    if option.does.lower().startswith("no"):
        return "reject_once"
    return "allow_always" if option.letter in "ar" else "allow_once"
