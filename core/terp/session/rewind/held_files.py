"""Files that the holders of kernels saved before code, or a child program of it, changed them."""

from collections.abc import Mapping, Sequence
from itertools import groupby
from typing import Self

from terp.events.kernel import Kernel
from terp.kernels.sandbox.effects import HeldEffects, SavedFile, effects_of
from terp.text.dataclasses import dataclass, field, replace


@dataclass(slots=True)
class HeldFiles:
    """The files changed since a checkpoint, each as it was first saved, with the kernel that has it.

    Several kernels may have changed a file. Of `more` changes the files are not known.
    """

    moment: int
    first: dict[str, tuple[SavedFile, HeldEffects]] = field(default_factory=dict)
    more: int = 0
    _began: dict[str, int] = field(default_factory=dict)
    _holders: list[HeldEffects] = field(default_factory=list)

    @classmethod
    async def since(cls, moment: int, kernels: Mapping[str, Kernel], ended: Mapping[str, int]) -> Self:
        """Return the files that kernels, by language, have saved since a checkpoint; 0 is none.

        `ended` has the records with which kernels were last restarted.
        """
        found = cls(moment)
        for language, kernel in kernels.items():
            effects = effects_of(kernel)
            saved = await effects.saved_since(moment) if effects and moment else None
            if effects and saved and saved.since is not None:
                found.more += saved.more
                found._began[language] = max(saved.since, moment, ended[language])
                found._holders.append(effects)
                for one in saved.files:
                    found._add(one, effects)
        return found

    def _add(self, one: SavedFile, effects: HeldEffects) -> None:
        known = self.first.get(one.path)
        as_left = one.as_left or (known is not None and known[0].as_left)
        file, holder = known if known is not None and known[0].when < one.when else (one, effects)
        self.first[one.path] = replace(file, as_left=as_left), holder

    def is_held(self, language: str, started_at: int | None = None) -> bool:
        """Return True if a kernel has saved what its code changed, in a run that started at that record.

        A kernel that was restarted since, or a run of an earlier turn, has no state from the checkpoint.
        """
        began = self._began.get(language)
        return began is not None and (started_at is None or started_at >= began)

    def rows(self) -> list[tuple[str, str, str]]:
        """Return path, possible action and reason of each file, as `KeepsPast.written`."""
        return [
            (path, one.can, one.why)
            if one.can in ("same", "not") or one.as_left
            else (path, "not", "something else has changed it since")
            for path, (one, _) in self.first.items()
        ]

    async def restore(self, paths: Sequence[str]) -> dict[str, tuple[str, str]]:
        """Restore files; return for each the result and the reason, as `KeepsPast.take_back`."""
        new = {path for path in paths if self.first[path][0].can == "remove"}
        # What is new goes first, the files of a folder before it; folders return before their files.
        ordered = [*sorted(new, reverse=True), *sorted(set(paths) - new)]
        done: dict[str, tuple[str, str]] = {}
        for _, some in groupby(ordered, key=lambda path: id(self.first[path][1])):
            part = list(some)
            done |= await self.first[part[0]][1].restore(self.moment, part)
        for holder in self._holders if paths else ():
            # In all kernels the files are the user's again.
            await holder.restore(self.moment, ())
        return done
