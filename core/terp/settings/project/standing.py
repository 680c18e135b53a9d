"""How a project stands with the person: what they decided about it as it is now."""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Literal

from terp.settings.places import Places
from terp.settings.project.decisions import Answer, Decision, Decisions
from terp.settings.project.survey import Survey, survey_of

State = Literal["nothing", "open", "yes", "no"]
"""Nothing of it speaks to terp; nobody decided about it as it is now; or what was decided."""


class Standing:
    """A project as it is, and what was decided about just that; called, it is the `Trust` of the person."""

    def __init__(self, survey: Survey, decisions: Decisions) -> None:
        self.survey = survey
        self._decisions = decisions
        self._root = os.path.realpath(survey.root)
        self.state: State = "nothing"
        """What holds now."""
        if survey.used:
            self.state = decisions.about(self._root, survey.digest) or "open"

    @property
    def problem(self) -> str:
        """A line about decisions that cannot be read, where there is something to decide."""
        return self._decisions.problem if self.survey.used else ""

    def __call__(self, path: Path, content: bytes) -> bool:
        """Whether a file counts that holds these bytes."""
        return self.state == "yes" and self.survey.holds(path, content)

    def answer(self, answer: Answer, *, keep: bool) -> None:
        """Let this count, for this process alone or with `keep` until a byte of the project changes.

        Raises:
            DecisionsUnreadable: the file of decisions holds something else.
            OSError: it cannot be written.
        """
        self.state = answer
        if keep:
            self._decisions.keep(Decision(self._root, self.survey.digest, answer))


def standing_of(cwd: str | Path, environ: Mapping[str, str], places: Places) -> Standing:
    """How the project around `cwd` stands."""
    return Standing(survey_of(cwd, environ), Decisions(places.trust))
