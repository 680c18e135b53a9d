"""From settings to confinement."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import cast

from terp.kernels.sandbox.confinement import Confinement, Mode, Wish
from terp.kernels.sandbox.policy import ResourceLimits
from terp.settings import Settings


def wish_of(settings: Settings) -> Wish:
    """What the settings want of a sandbox."""
    return Wish(
        cast("Mode", settings.sandbox),
        network=settings.network,
        required=settings.sandbox_required,
        limits=ResourceLimits(settings.memory_limit_mb, settings.max_processes, settings.max_file_mb),
        image=settings.docker_image,
    )


def confinement_of(
    settings: Settings,
    cwd: str | Path,
    environ: Mapping[str, str],
    unasked: Callable[[], bool] | None = None,
) -> Confinement:
    """The confinement that settings want in `cwd`; `unasked` tells whether code runs without a question."""
    return Confinement(
        wish_of(settings), str(Path(cwd).absolute()), environ, unasked or (lambda: settings.auto_run)
    )
