"""What settings, a machine and files of instructions make of the system prompt."""

import os
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from terp.events.kernel import Kernel
from terp.kernels.attached.attachment import KernelAttachment
from terp.kernels.environments.choosing import wanted_python
from terp.session.attaching import taught
from terp.session.context.prompt import Facts, system_prompt
from terp.settings import Settings
from terp.settings.interpreter import present_packages, version_of
from terp.settings.places import find_places
from terp.settings.project.files import Project
from terp.settings.project.instructions import written_instructions
from terp.tools.toolbox import Toolbox

_MATTERING = ("numpy", "pandas", "polars", "scipy", "sklearn", "matplotlib", "seaborn", "plotly", "torch")
"""Packages of which a model had better know whether they are there, by what is imported."""


class RunsCode(Protocol):
    """Kernels, as far as the prompt tells of them."""

    cwd: str

    def get(self, language: str) -> Kernel:
        """The kernel for a language; it is not started."""

    @property
    def network(self) -> bool:
        """Whether code has the network, where it is confined."""

    @property
    def elsewhere(self) -> str:
        """The machine on which they are; "" for this one."""

    @property
    def languages(self) -> Sequence[str]:
        """What can run in them."""

    @property
    def attached(self) -> Mapping[str, KernelAttachment]:
        """Kernels of somebody else among them, by language."""

    @property
    def stateless(self) -> Sequence[str]:
        """Those in which every run begins anew."""


@dataclass(frozen=True, slots=True)
class Briefing:
    """Makes the system prompt of one session, whose surroundings stay while its settings may change."""

    kernels: RunsCode
    toolbox: Toolbox
    environ: Mapping[str, str]
    project: Project

    def text(self, settings: Settings) -> str:
        """The whole prompt; equal settings give equal text, as long as no file is changed.

        Raises:
            SettingsError: the person's own file of instructions cannot be read.
        """
        # Without code there is nothing to call a function in.
        told = self.toolbox.for_model(shipped=not settings.system_message) if settings.code else ""
        return system_prompt(
            self._facts(settings),
            instructions=settings.instructions,
            replacement=settings.system_message,
            functions=told,
            written=written_instructions(find_places(self.environ), self.project),
        )

    def _facts(self, settings: Settings) -> Facts:
        if self.kernels.elsewhere:
            return self._facts_elsewhere(settings)
        wanted = wanted_python(settings.python, self.environ, self.kernels.cwd, self.project.python)
        python = wanted.path if wanted else sys.executable
        asked_for = [name for name in settings.packages if name not in _MATTERING]
        packages = (*present_packages(python, _MATTERING), *asked_for)
        attached = self.kernels.attached
        theirs = attached.get("python")
        return Facts(
            system="{0.sysname} {0.machine}".format(os.uname()),
            cwd=self.kernels.cwd,
            languages=self.kernels.languages,
            python=theirs.version if theirs else version_of(python),
            max_output_chars=settings.max_output_chars,
            stateless=self.kernels.stateless,
            packages=() if theirs else packages,
            installs=not theirs and settings.auto_install != "never",
            shared=" ".join(taught(one, language) for language, one in attached.items()),
            code=settings.code,
            tier=self.kernels.get(self.kernels.languages[0]).tier,
            network=self.kernels.network,
            references=settings.references,
        )

    def _facts_elsewhere(self, settings: Settings) -> Facts:
        """What is known of a machine before anything runs there."""
        return Facts(
            system=f"another machine than the user's, behind the Jupyter gateway {self.kernels.elsewhere}; "
            "of the user's own files only those are there that they attach",
            cwd="that of the kernel",
            languages=self.kernels.languages,
            max_output_chars=settings.max_output_chars,
            stateless=self.kernels.stateless,
            code=settings.code,
            tier=self.kernels.get(self.kernels.languages[0]).tier,
            references=settings.references,
        )
