"""Files that go with prompts, on their way to a kernel of another machine."""

from collections.abc import Sequence
from pathlib import Path, PurePosixPath

from terp.errors import TerpError
from terp.events.kernel import Kernel
from terp.events.messages import Attachment
from terp.events.outputs import Error
from terp.kernels.remote.kernels import GatewayKernels
from terp.models.tool import Call


class FileCarrier:
    """Implements `Carrier`: before code runs, its kernel is given what was attached by then.

    A kernel that was started anew is given it again: it may be on another machine. What is there already is
    not sent twice.
    """

    def __init__(self, kernels: GatewayKernels) -> None:
        self._kernels = kernels
        self._sources: list[Path] = []
        self._given: dict[str, tuple[int, int]] = {}

    def take(self, attachments: Sequence[Attachment]) -> None:
        """Carry the files behind these from now on."""
        for attachment in attachments:
            if attachment.source and Path(attachment.source) not in self._sources:
                self._sources.append(Path(attachment.source))

    def waits(self, language: str) -> bool:
        """Nothing has to come before a kernel."""
        return False

    async def before(self, call: Call, kernel: Kernel) -> str:
        """Give the kernel what it has not got yet; what became of each that is not as the model was told."""
        if not self._sources:
            return ""
        await kernel.start()
        generation, count = self._given.get(kernel.language, (0, 0))
        new = self._sources[count if generation == kernel.generation else 0 :]
        told = [await self._give(source, kernel.language) for source in new]
        self._given[kernel.language] = (kernel.generation, len(self._sources))
        return " ".join(part for part in told if part)

    async def after(self, call: Call, kernel: Kernel, error: Error) -> str:
        """Nothing: an error of the code changes no file."""
        return ""

    async def _give(self, source: Path, language: str) -> str:
        try:
            path = await self._kernels.give(language, source)
        except (TerpError, OSError) as error:
            return f"{source.name} is not in the kernel's directory: {error}"
        name = PurePosixPath(path).name
        return "" if name == source.name else f"{source.name} is there as {name}: that name was taken."
