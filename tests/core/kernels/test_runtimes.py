"""Which languages are offered."""

import pytest

from terp.errors import SettingsError
from terp.kernels.local import LocalKernels
from terp.kernels.options import KernelOptions
from terp.kernels.runtimes.runtime import Machine


def test_python_comes_first_and_is_always_there() -> None:
    assert LocalKernels(environ={}).languages[0] == "python"


def test_the_languages_that_were_chosen_may_be_given_by_any_of_their_names() -> None:
    assert LocalKernels(options=KernelOptions(languages=("py",))).languages == ("python",)


def test_a_chosen_language_that_nobody_knows_is_named_with_those_that_are() -> None:
    kernels = LocalKernels(options=KernelOptions(languages=("cobol",)))
    with pytest.raises(SettingsError, match=r"languages: terp runs no 'cobol'; it runs python"):
        kernels.get("python")


def test_programs_are_looked_for_on_the_persons_path() -> None:
    machine = Machine({"PATH": "/usr/bin:/bin"})
    assert (machine.which("no-such-program", "sh"), Machine({}).which("no-such-program")) == (
        machine.which("sh"),
        "",
    )


def test_spellings_of_one_language_share_a_kernel() -> None:
    kernels = LocalKernels()
    assert kernels.get("py") is kernels.get("python3")
