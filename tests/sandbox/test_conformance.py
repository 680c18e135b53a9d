"""Kernels pass Jupyter's own tests in either tier as they do without."""

import os
import tempfile
from typing import Any

import pytest

from terp.kernels.jupyter.launch import Launch, python_argv
from terp.kernels.sandbox.policy import Policy
from terp.kernels.sandbox.tier import Confined
from terp.secrets.environment import kernel_environment
from terp.settings.interpreter import own_interpreter
from tests.core.kernels import conformance, test_shell_conformance
from tests.sandbox.held import tier_named


def hold(case: Any, name: str) -> None:
    """Let a class of tests run its kernel in a tier."""
    tier, why = tier_named(name)
    if tier is None:
        pytest.skip(f"no sandbox {name} works here: {why}")
    case.confined = Confined(tier, Policy(case.launch.cwd, (case.launch.cwd,), network=False))


class Python(conformance.Conformance):
    launch = Launch(
        argv=python_argv(own_interpreter()),
        cwd=tempfile.mkdtemp(),
        environment=kernel_environment(os.environ),
        language="python",
    )
    language_name = "python"
    file_extension = ".py"
    code_hello_world = "print('hello, world')"
    code_stderr = "import sys; print('oops', file=sys.stderr)"
    code_execute_result = ({"code": "6 * 7", "result": "42"},)
    code_generate_error = "1 / 0"
    completion_samples = ({"text": "zi", "matches": {"zip"}},)
    complete_code_samples = ("1", "print('hello')")
    incomplete_code_samples = ("print('''hello",)
    code_inspect_sample = "zip"
    code_page_something = "zip?"
    code_display_data = (
        {"code": "from IPython.display import HTML, display; display(HTML('<b>'))", "mime": "text/html"},
    )
    code_clear_output = "from IPython.display import clear_output; clear_output()"
    # It keeps no history on disk.
    test_history = None


class TestPythonInBubblewrap(Python):
    @classmethod
    def setUpClass(cls) -> None:
        hold(cls, "bubblewrap")
        super().setUpClass()


class TestPythonInLandlock(Python):
    @classmethod
    def setUpClass(cls) -> None:
        hold(cls, "Landlock")
        super().setUpClass()


class TestShellInBubblewrap(test_shell_conformance.TestShell):
    @classmethod
    def setUpClass(cls) -> None:
        hold(cls, "bubblewrap")
        super().setUpClass()


class TestShellInLandlock(test_shell_conformance.TestShell):
    @classmethod
    def setUpClass(cls) -> None:
        hold(cls, "Landlock")
        super().setUpClass()
