"""Kernels of other programs in a session: attached by name, announced to user and model, and detached."""

import asyncio
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from terp.kernels.attached.attachment import KernelAttachment
from terp.kernels.jupyter.local import LocalKernels
from terp.settings import Settings
from terp.text.importing import import_slow

if TYPE_CHECKING:
    from terp.kernels.attached.finding import FoundKernel


def notice_for_user(found: "FoundKernel", language: str) -> str:
    """Return the notice for the user on a kernel that was attached for `language`."""
    attachment, others = found.attachment, found.others
    named = language.capitalize()
    unsure = "" if attachment.heeds_interrupts else " It may not be possible to interrupt it from here."
    more = f" These run, too: {', '.join(others)}; terp attach NAME takes one." if others else ""
    return (
        f"{named} code runs in {attachment.place}: its variables are theirs as well, and terp leaves it "
        f"running.{unsure}{more}"
    )


def note_for_model(attachment: KernelAttachment, language: str) -> str:
    """Return the note for the model on an attached kernel."""
    where = f" It works in {attachment.cwd}." if attachment.cwd else ""
    return (
        f"The {language} kernel is one that somebody else uses at the same time.{where} What is in it and "
        "not of your making is theirs: use it, but do not change or delete it, and do not end or restart the "
        "kernel, unless the user asks for that."
    )


async def found_for(settings: Settings, environ: Mapping[str, str], cwd: str) -> "FoundKernel | None":
    """Return the kernel that the settings name; None if they name none.

    Raises:
        SettingsError: no kernel has this name, or a file is no connection file.
        KernelStartFailed: no kernel answers there.
    """
    return await _found(settings.attach, environ, cwd) if settings.attach else None


async def _found(target: str, environ: Mapping[str, str], cwd: str) -> "FoundKernel":
    finding = await asyncio.to_thread(import_slow, "terp.kernels.attached.finding")
    found: FoundKernel = await finding.find_attachment(target, environ, cwd)
    return found


class Attaching:
    """Attaches a session to kernels of other programs, and detaches it.

    `note` lets the model read a text with the next message. `choose` is called with False while an attached
    kernel runs Python: terp then neither chooses the Python nor installs packages.
    """

    def __init__(
        self, kernels: LocalKernels, note: Callable[[str], None], choose: Callable[[bool], None]
    ) -> None:
        self._kernels = kernels
        self._note = note
        self._choose = choose

    @property
    def current(self) -> Mapping[str, KernelAttachment]:
        """The attached kernels, by language."""
        return self._kernels.attached

    async def attach(self, target: str) -> str:
        """Run a language in another kernel from the next code on; return the notice for the user.

        Raises:
            SettingsError: no kernel has this name, or a file is no connection file.
            KernelError: no kernel answers there, or it cannot run code of this session.
        """
        before = dict(self.current)
        found = await _found(target, self._kernels.environ, self._kernels.cwd)
        language = await self._kernels.attach(found.attachment)
        try:
            await self._kernels.get(language).start()
        except BaseException:
            await self._back(language, before.get(language))
            raise
        finally:
            self._settled(language)
        note = note_for_model(found.attachment, language)
        self._note(f"[{note} Variables of the kernel before it are not there.]")
        return notice_for_user(found, language)

    async def detach(self) -> None:
        """Return to kernels that terp starts.

        Raises:
            UnknownLanguage: terp has none for a language.
        """
        for language in tuple(self.current):
            await self._kernels.detach(language)
            self._settled(language)
            self._note(f"[The {language} kernel is a new one of the session's own, without variables.]")

    async def _back(self, language: str, before: KernelAttachment | None) -> None:
        """Return to the kernel before; variables of one that terp had started are lost."""
        if before is not None:
            await self._kernels.attach(before)
        else:
            await self._kernels.detach(language)

    def _settled(self, language: str) -> None:
        if language == "python":
            self._choose(language not in self.current)
