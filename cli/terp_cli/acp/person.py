"""The user in an editor, and their files.

They are asked by requests for permission, and by forms where the editor has them.
"""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from acp import Client, helpers, schema
from acp.exceptions import RequestError
from pydantic import ValidationError

from terp.analysis.rules.offering import offered
from terp.errors import NobodyThere, TerpError
from terp.events import CodeProposed
from terp.kernels.sandbox.tier import is_confined
from terp.person import Choice, Consent, Decline, Option, Run
from terp.session.session import Session
from terp.tools.toolbox import SHIPPED
from terp_cli.terminal.sanitise import visible

if TYPE_CHECKING:
    from terp_cli.acp.session import EditorSession

TOOLS = str(Path(__file__).parent / "tools" / "editor_tools.py")
"""The tool file with `read_file`, in a folder by itself: the kernel finds modules beside a tool file."""
PRELUDE = "__import__('terp_home.shipped').shipped.use_editor()"
"""The code that lets `edit_file` change files in the editor."""
META = "terp"
"""The key of terp's own fields in `_meta`: the digest of code, a reason to decline, edited code."""
FAILED = (RequestError, ValidationError)
"""The editor answered with an error, or with something else than an answer."""
Options = Mapping[str, tuple[str, schema.PermissionOptionKind]]
"""Names and kinds of the options of a request, by their ids."""
_YES_NO = (Option("y", "Yes"), Option("n", "No"))


class EditorPerson:
    """Asks in `editor`, a session of `client`.

    While `editor.asks` is False, code in a sandbox runs without approval; with `free` also other code. Code
    that is always allowed is known by its digest. With `shows_titles` the title of a question has the code.
    """

    editor: "EditorSession"

    def __init__(self, client: Client, *, has_forms: bool, free: bool, shows_titles: bool = False) -> None:
        self.client = client
        self._has_forms = has_forms
        self.free = free
        self._shows_titles = shows_titles
        self._allowed: set[tuple[str, str, str]] = set()

    async def approve(self, proposed: CodeProposed) -> Run | Decline:
        """Return the user's decision about the code with this digest, which the request shows."""
        same = proposed.language, proposed.digest, proposed.place or proposed.cwd
        unasked = not self.editor.asks and (self.free or is_confined(proposed.tier))
        if not proposed.asks and (unasked or same in self._allowed):
            return Run(proposed.code, by="auto_run" if unasked else "always")
        confinement = self.editor.session.resources.confinement
        rules = offered(proposed, held=confinement is not None and confinement.holds).rules
        named = "; ".join(f"{visible(text)} ({means})" for text, means in rules) or "exactly this code"
        once, always = f"once:{proposed.digest}", f"always:{proposed.digest}"
        how = "say why" if self._has_forms else "stop"
        options: Options = {
            once: ("Run", "allow_once"),
            **({} if proposed.asks else {always: (f"Always run {named}", "allow_always")}),
            "decline": ("Decline", "reject_once"),
            "stop": (f"Decline, and {how}", "reject_once"),
        }
        await self.editor.sender.drawn()
        view = self.editor.sender.calls[proposed.call_id]
        call = view.update()
        if self._shows_titles:
            call.title = "\n".join(["", *view.heads])
        chosen, meta = await self._asked(call, options, digest=proposed.digest)
        if chosen in (once, always):
            if isinstance(edited := meta.get("code"), str) and edited != proposed.code:
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
        if choice.as_code and not self.editor.asks:
            return choice.as_code
        sender = self.editor.sender
        await sender.drawn()
        running, lines = sender.running, visible(f"{choice.what}\n{choice.why}".rstrip())
        id_ = running.id if running else f"question-{self.editor.session.log.last}"
        title = lines if self._shows_titles else lines.partition("\n")[0]
        content = [helpers.tool_content(helpers.text_block(lines))]
        if running is None:
            await sender.send(helpers.start_tool_call(id_, title, kind="other", status="pending"))
        options: Options = {one.letter: (visible(one.does), _kind_of(one)) for one in choice.options}
        call = helpers.update_tool_call(id_, title=title, content=content)
        chosen, meta = await self._asked(call, options)
        # A running call has its own title and content again.
        await sender.send(running.update() if running else helpers.update_tool_call(id_, status="completed"))
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
        self, call: schema.ToolCallUpdate, options: Options, **meta: str
    ) -> tuple[str, dict[str, Any]]:
        """Return the id of the chosen option, "" for none, and terp's own fields of the answer."""
        rows = [(id_, *option) for id_, option in options.items()]
        if self._shows_titles:
            # Kinds in place of names, and of options of one kind only one.
            rows = list({row[2]: row for row in reversed(rows)}.values())
            call.title = "\n".join([call.title or "", *(name for _, name, kind in rows if "always" in kind)])
        choices = [schema.PermissionOption(option_id=id_, name=name, kind=kind) for id_, name, kind in rows]
        clean, own = self.editor.sender.clean(call), {META: meta} if meta else {}
        try:
            answer = await self.client.request_permission(self.editor.id, clean, choices, **own)
        except FAILED as error:
            raise NobodyThere(f"The editor cannot ask: {str(error)[:200]}.") from error
        outcome, fields = answer.outcome, (answer.field_meta or {}).get(META)
        chosen = outcome.option_id if isinstance(outcome, schema.AllowedOutcome) else ""
        return chosen if chosen in options else "", fields if isinstance(fields, dict) else {}

    async def _line(self, prompt: str) -> str | None:
        """Return a line that the user types into a form; None if they close it, or there are no forms."""
        if not self._has_forms:
            return None
        await self.editor.sender.drawn()
        fields: Any = {"line": schema.ElicitationStringPropertySchema(type="string")}
        asked = schema.ElicitationSchema(type="object", properties=fields, required=["line"])
        mode = schema.ElicitationFormSessionMode(session_id=self.editor.id, requested_schema=asked)
        try:
            answer = await self.client.create_elicitation(visible(prompt), mode)
        except FAILED:
            return None
        line = (answer.content or {}).get("line") if answer.action == "accept" else None
        return line if isinstance(line, str) else None


def _kind_of(option: Option) -> schema.PermissionOptionKind:
    if option.does.lower().startswith("no"):
        return "reject_once"
    return "allow_always" if option.letter in "ar" else "allow_once"


def offer_files(person: EditorPerson, session: Session) -> None:
    """Offer the services behind `EditorFiles` in the kernel; they leave files that it lacks to the disk.

    An editor knows no sandbox, so code in one works on the disk.
    """
    before: dict[str, str] = {}

    async def read(arguments: Mapping[str, Any]) -> str | None:
        path = str(arguments["path"])
        if is_confined(session.kernels.get("python").tier):
            return None
        try:
            before[path] = text = (await person.client.read_text_file(person.editor.id, path)).content
        except FAILED:
            return None
        return text

    async def write(arguments: Mapping[str, Any]) -> bool:
        path, text = str(arguments["path"]), str(arguments["text"])
        if is_confined(session.kernels.get("python").tier):
            return False
        try:
            await person.client.write_text_file(person.editor.id, path, text)
        except FAILED as error:
            raise TerpError(f"The editor did not write {path}: {error}.") from error
        person.editor.sender.edited(path, before.pop(path, None), text)
        return True

    box = session.resources.toolbox
    # Its effects are known, as those of the tools that ship with terp.
    tools = (replace(one, source=SHIPPED) if one.target == TOOLS else one for one in box.tools)
    session.resources.toolbox = replace(box, tools=tuple(tools))
    session.offer("read_text_file", read)
    session.offer("write_text_file", write)
