"""Following the log of a session, and turning it into frames."""

import asyncio
from collections.abc import Callable, Iterable

from terp.events import TurnStarted
from terp.secrets.redacting import redacted
from terp_cli.server.compat.accumulating import Frame
from terp_cli.server.compat.frames import Frames
from terp_cli.server.redaction import Redaction
from terp_cli.server.served import Served


class Listening:
    """Tells `show` the frames of a session, without secrets, and `began` what each turn asks."""

    def __init__(
        self, served: Served, show: Callable[[list[Frame]], None], began: Callable[[str], None]
    ) -> None:
        self.served = served
        self.frames = Frames()
        self._show = show
        self._began = began
        self._redaction = Redaction(served.session.equipment.scrubber)
        self._read = served.session.log.last
        self._following = asyncio.create_task(self._follow())

    def catch_up(self) -> None:
        """Show all that is logged by now."""
        for record in self.served.session.log.since(self._read):
            self._read = record.number
            for clean in self._redaction.passed(record):
                if isinstance(clean.event, TurnStarted):
                    self._began(clean.event.prompt)
                self.show(self.frames.of(clean.event))

    def pause(self) -> None:
        """Show that code waits, behind all that is logged by now."""
        self.catch_up()
        self.show(self.frames.pause())

    def show(self, frames: Iterable[Frame]) -> None:
        """Show frames."""
        clean = [self._clean(frame) for frame in frames]
        if clean:
            self._show(clean)

    def stop(self) -> None:
        """Follow no more."""
        self._following.cancel()

    def _clean(self, frame: Frame) -> Frame:
        # A picture has no words, and must stay as it is.
        return frame if frame.get("type") == "image" else redacted(frame, self.served.scrubber)

    async def _follow(self) -> None:
        while not self.served.closed:
            await self.served.session.log.changed()
            self.catch_up()
