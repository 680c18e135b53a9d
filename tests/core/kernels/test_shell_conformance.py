"""The shell kernel passes Jupyter's own tests of kernels."""

import os
import tempfile

import pytest

from terp.kernels.jupyter.local import LocalKernels
from terp.kernels.runtimes.runtime import Machine
from terp.kernels.runtimes.shell import find_shell, shell_launch
from tests.core.kernels import conformance

SHELL = find_shell(Machine(os.environ))


@pytest.mark.skipif(not SHELL, reason="there is no bash")
class TestShell(conformance.Conformance):
    launch = shell_launch(LocalKernels(tempfile.gettempdir()))
    language_name = "bash"
    file_extension = ".sh"
    code_hello_world = "echo hello, world"
    code_stderr = "echo oops >&2"
    completion_samples = (
        {"text": "ech", "matches": {"echo"}},
        {"text": "ls /us", "matches": {"/usr/"}},
        {"text": "echo $HOM", "matches": {"$HOME"}},
    )
    complete_code_samples = ("echo hi", "if true; then echo x; fi", "f() { echo a; }", "ls | cat")
    incomplete_code_samples = (
        "if true; then",
        "echo '",
        'echo "a',
        "cat <<EOF\nline",
        "ls \\",
        "f() {",
        "$(ls",
    )
    invalid_code_samples = ("fi", "echo )", "if; then")
    code_generate_error = "false"
    code_inspect_sample = "echo"
    # Of these the shell has nothing: no pager, no displays, no value of a cell, no history.
    test_pager = test_execute_result = test_display_data = test_history = test_clear_output = None
