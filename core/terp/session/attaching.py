"""Kernels of somebody else in a session: taken by name, told to person and model, and given back."""

import asyncio
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from terp.kernels.attached.attachment import KernelAttachment
from terp.kernels.jupyter.local import LocalKernels
from terp.settings import Settings
from terp.text.importing import import_slow

if TYPE_CHECKING:
    from terp.kernels.attached.finding import FoundKernel


def told(found: "FoundKernel", language: str) -> str:
    """What a person must know of a kernel that was taken for `language`."""
    attachment, others = found.attachment, found.others
    named = language.capitalize()
    unsure = "" if attachment.heeds_interrupts else " It may not be possible to interrupt it from here."
    more = f" These run, too: {', '.join(others)}; terp attach NAME takes one." if others else ""
    return (
        f"{named} code runs in {attachment.place}: its variables are theirs as well, and terp leaves it "
        f"running.{unsure}{more}"
    )


def taught(attachment: KernelAttachment, language: str) -> str:
    """What the model must know of it."""
    where = f" It works in {attachment.cwd}." if attachment.cwd else ""
    return (
        f"The {language} kernel is one that somebody else uses at the same time.{where} What is in it and "
        "not of your making is theirs: use it, but do not change or delete it, and do not end or restart the "
        "kernel, unless the user asks for that."
    )


async def found_for(settings: Settings, environ: Mapping[str, str], cwd: str) -> "FoundKernel | None":
    """The kernel that the settings say to attach to; None when they say nothing.

    Raises:
        SettingsError: nothing is called so, or a file is no connection file.
        KernelStartFailed: no kernel answers there.
    """
    return await _found(settings.attach, environ, cwd) if settings.attach else None


async def _found(target: str, environ: Mapping[str, str], cwd: str) -> "FoundKernel":
    finding = await asyncio.to_thread(import_slow, "terp.kernels.attached.finding")
    found: FoundKernel = await finding.find_attachment(target, environ, cwd)
    return found


class Attaching:
    """Which languages of a session run in kernels of somebody else.

    `note` lets the model read a text with the next message; `choose` is called with whether the Python of
    the session is terp's to be chosen and to be given packages. `told` is what the person must know of the
    kernel that the session began with.
    """

    def __init__(
        self,
        kernels: LocalKernels,
        note: Callable[[str], None],
        choose: Callable[[bool], None],
        told: str = "",
    ) -> None:
        self.told = told
        self._kernels = kernels
        self._note = note
        self._choose = choose

    @property
    def current(self) -> Mapping[str, KernelAttachment]:
        """The kernels that were taken, by language."""
        return self._kernels.attached

    async def attach(self, target: str) -> str:
        """Take another kernel for its language from the next code on; what the person must know.

        Raises:
            SettingsError: nothing is called so, or a file is no connection file.
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
        lesson = taught(found.attachment, language)
        self._note(f"[{lesson} Variables of the kernel before it are not there.]")
        return told(found, language)

    async def detach(self) -> None:
        """Take kernels of terp's own again.

        Raises:
            UnknownLanguage: terp has none for a language.
        """
        for language in tuple(self.current):
            await self._kernels.detach(language)
            self._settled(language)
            self._note(f"[The {language} kernel is a new one of the session's own, without variables.]")

    async def _back(self, language: str, before: KernelAttachment | None) -> None:
        """Take what ran a language before; its variables are lost if it was terp's own."""
        if before is not None:
            await self._kernels.attach(before)
        else:
            await self._kernels.detach(language)

    def _settled(self, language: str) -> None:
        if language == "python":
            self._choose(language not in self.current)
