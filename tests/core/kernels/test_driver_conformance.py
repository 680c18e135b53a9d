"""The kernels of driven and of compiled languages pass Jupyter's own tests of kernels."""

import os
import tempfile

import pytest

from terp.kernels.jupyter.local import LocalKernels
from terp.kernels.runtimes.programs import COMPILED, compiler_launch
from terp.kernels.runtimes.runtime import Machine
from tests.core.kernels import conformance
from tests.core.kernels.driven import launch_of, program_of


def needs(driver: str) -> pytest.MarkDecorator:
    return pytest.mark.skipif(not program_of(driver), reason=f"no program for {driver}")


class Driven(conformance.Conformance):
    """Set `language_name` to the driver's name too."""

    __test__ = False
    # Of these a driver has nothing: it runs cells, and all it shows is text.
    test_completion = test_is_complete = test_inspect = None
    test_pager = test_history = test_display_data = test_clear_output = None


@needs("ruby")
class TestRuby(Driven):
    __test__ = True
    launch = launch_of("ruby", tempfile.gettempdir())
    language_name = "ruby"
    file_extension = ".rb"
    code_hello_world = "puts 'hello, world'"
    code_stderr = "warn 'oops'"
    code_generate_error = "raise 'boom'"
    code_execute_result = ({"code": "6 * 7", "result": "42"},)


@needs("php")
class TestPhp(Driven):
    __test__ = True
    launch = launch_of("php", tempfile.gettempdir())
    language_name = "php"
    file_extension = ".php"
    code_hello_world = 'echo "hello, world\\n";'
    code_stderr = 'error_log("oops");'
    code_generate_error = "throw new Exception('boom');"
    code_execute_result = ({"code": "6 * 7", "result": "42"},)


@needs("perl")
class TestPerl(Driven):
    __test__ = True
    launch = launch_of("perl", tempfile.gettempdir())
    language_name = "perl"
    file_extension = ".pl"
    code_hello_world = 'print "hello, world\\n";'
    code_stderr = 'print STDERR "oops\\n";'
    code_generate_error = "die 'boom';"
    code_execute_result = ({"code": "6 * 7", "result": "42"},)


@needs("lua")
class TestLua(Driven):
    __test__ = True
    launch = launch_of("lua", tempfile.gettempdir())
    language_name = "lua"
    file_extension = ".lua"
    code_hello_world = "print('hello, world')"
    code_stderr = "io.stderr:write('oops')"
    code_generate_error = "error('boom')"
    code_execute_result = ({"code": "6 * 7", "result": "42"},)


@needs("javascript")
class TestNode(Driven):
    __test__ = True
    launch = launch_of("javascript", tempfile.gettempdir())
    language_name = "javascript"
    file_extension = ".js"
    code_hello_world = "console.log('hello, world')"
    code_stderr = "console.error('oops')"
    code_generate_error = "throw new Error('boom')"
    code_execute_result = ({"code": "6 * 7", "result": "42"},)


@needs("r")
class TestR(Driven):
    __test__ = True
    launch = launch_of("r", tempfile.gettempdir())
    language_name = "r"
    file_extension = ".r"
    code_hello_world = "cat('hello, world\\n')"
    code_stderr = "message('oops')"
    code_generate_error = "stop('boom')"
    code_execute_result = ({"code": "6 * 7", "result": "[1] 42"},)


@needs("java")
class TestJava(Driven):
    __test__ = True
    launch = launch_of("java", tempfile.gettempdir())
    language_name = "java"
    file_extension = ".java"
    code_hello_world = 'System.out.println("hello, world");'
    code_stderr = 'System.err.println("oops");'
    code_generate_error = 'throw new RuntimeException("boom");'
    code_execute_result = ({"code": "6 * 7", "result": "42"},)


CC = Machine(os.environ).which(*COMPILED[0].programs)


@pytest.mark.skipif(not CC, reason="there is no C compiler")
class TestC(Driven):
    __test__ = True
    launch = compiler_launch("c", CC, LocalKernels(tempfile.gettempdir()))
    language_name = "c"
    file_extension = ".c"
    code_hello_world = '#include <stdio.h>\nint main() { puts("hello, world"); }'
    code_stderr = '#include <stdio.h>\nint main() { fputs("oops", stderr); }'
    code_generate_error = "int main() { return nothing; }"
    # A program has no value.
    test_execute_result = None
