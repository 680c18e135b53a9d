"""What tests of checkpoints share: namespaces whose values are handed out to a store, and bound in others."""

import threading
from collections.abc import Mapping
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from terp.kernels.inside.handing_out import HandingOut
from terp.kernels.inside.stored import StoredNames
from terp.secrets.redactor import Redactor
from terp.store.checkpoints import CheckpointStore, Receiver, StoredCheckpoint
from tests.core.kernels.inside.keeping import Kernel

SECRET = "p4ssw0rd of the database"


class StoringKernel(Kernel):
    """A namespace in which cells run, with what terp adds for checkpoints."""

    def __init__(self, tmp_path: Path) -> None:
        super().__init__()
        self.cells: list[str] = []
        self.shell.history_manager = SimpleNamespace(input_hist_parsed=self.cells)
        home: Any = SimpleNamespace(shell=self.shell)
        self.stored = StoredNames(home, self.namespace)
        self.handing = HandingOut(self.stored, self.checkpoints)
        self.store = CheckpointStore(tmp_path / "checkpoints", tmp_path / "key")
        self.pipe = tmp_path / "pipe"
        self.sent = 0

    def run(self, turn: int, *cells: str) -> None:
        for code in cells:
            self.cells.append(code)
            self.namespace.begin(code)
            self.stored.load_mentioned(code)
            super().run(turn, code)

    def __getitem__(self, expression: str) -> Any:
        """The value of an expression in a cell."""
        self.run(0, f"found = ({expression})")
        return self.names.pop("found")

    def hand_out(
        self, known: Mapping[str, str] | None = None, room: int = 1 << 40, seconds: float = 0.0
    ) -> Receiver:
        """Hand the values out to the store; `sent` is how many bytes went through the pipe."""
        receiver = Receiver(self.store, self.pipe, Redactor(secrets=(SECRET,)), room)
        received: list[bool] = []
        thread = threading.Thread(target=lambda: received.append(receiver.run()))
        thread.start()
        try:
            self.handing.run(str(self.pipe), dict(known or {}), room, seconds)
            thread.join()
        finally:
            receiver.stop()
            thread.join()
        assert received == [True]
        return receiver

    def save(self, name: str = "last", **options: Any) -> StoredCheckpoint:
        """Save a checkpoint."""
        receiver = self.hand_out(**options)
        left = tuple(sorted(receiver.left.items()))
        self.store.write(StoredCheckpoint(name, 1.5e9, "none", "/", tuple(receiver.pieces), left))
        return self.store.read(name)

    def load(self, checkpoint: StoredCheckpoint) -> None:
        """Bind the names of a checkpoint."""
        told = self.stored.bind(str(self.store.objects), [dict(piece) for piece in checkpoint.pieces])
        assert told == {"bound": len(checkpoint.names)}


def digests(checkpoint: StoredCheckpoint) -> dict[str, str]:
    return {",".join(piece["names"]): piece["digest"] for piece in checkpoint.pieces}


def resumed(tmp_path: Path, *cells: str) -> tuple[StoringKernel, StoredCheckpoint]:
    """A new namespace with the checkpoint of one in which the cells have run."""
    before, after = StoringKernel(tmp_path), StoringKernel(tmp_path)
    before.run(1, *cells)
    checkpoint = before.save()
    after.load(checkpoint)
    return after, checkpoint
