"""The interpreter and the environment of a kernel, without keys."""

import os
from collections.abc import Iterable, Mapping
from fnmatch import fnmatchcase
from pathlib import Path

from terp.settings.interpreter import Interpreter, active_python, has_module, own_interpreter
from terp.text.paths import typed_path

# Everything else stays out: a kernel runs code of a model, and keys live in environment variables.
_PASSED = """
    PATH HOME USER LOGNAME SHELL LANG LANGUAGE LC_* TERM COLORTERM TZ TMPDIR XDG_*
    VIRTUAL_ENV CONDA_PREFIX CONDA_DEFAULT_ENV CONDA_EXE CONDA_PYTHON_EXE CONDA_SHLVL
    CUDA_* NVIDIA_* LD_LIBRARY_PATH DYLD_LIBRARY_PATH
    HTTP_PROXY HTTPS_PROXY ALL_PROXY NO_PROXY http_proxy https_proxy all_proxy no_proxy
    SSL_CERT_FILE SSL_CERT_DIR REQUESTS_CA_BUNDLE CURL_CA_BUNDLE NODE_EXTRA_CA_CERTS PIP_CERT
    PYTHONPATH PYTHONHASHSEED PYTHONDONTWRITEBYTECODE PYTHONPYCACHEPREFIX PYTHONUTF8 PYTHONIOENCODING
    PYTHONWARNINGS OMP_NUM_THREADS OPENBLAS_NUM_THREADS MKL_NUM_THREADS NUMEXPR_NUM_THREADS
    MPLCONFIGDIR IPYTHONDIR
"""

_WILD = frozenset("*?[")

# Unless the user passes their own.
_SET = {
    "TERM": "dumb",
    # Programs ask for the width of the terminal: what they print is shown at any width.
    "COLUMNS": "100",
    # pydevd warns about frozen modules on every start otherwise.
    "PYDEVD_DISABLE_FILE_VALIDATION": "1",
    # Figures are delivered by the bootstrap; a back end with windows would block.
    "MPLBACKEND": "agg",
    # No pager and no question of a child process can be answered: they have no terminal.
    "PAGER": "cat",
    "GIT_PAGER": "cat",
    "GIT_TERMINAL_PROMPT": "0",
    "PIP_NO_INPUT": "1",
    "PIP_DISABLE_PIP_VERSION_CHECK": "1",
}


def kernel_environment(environ: Mapping[str, str], env_pass: Iterable[str] = ()) -> dict[str, str]:
    """Return the allowed part of `environ`, with names (or patterns such as `AWS_*`) added by `env_pass`."""
    named = {*_PASSED.split(), *env_pass}
    # Each pattern is an expression to compile, and most are names.
    patterns = [one for one in named if _WILD.intersection(one)]
    kept = {
        name: value
        for name, value in environ.items()
        if name in named or any(fnmatchcase(name, pattern) for pattern in patterns)
    }
    if "PYTHONPATH" in kept:
        # An empty name, which a stray `:` makes, is the working directory: it joins with the first cell.
        folders = kept["PYTHONPATH"].split(os.pathsep)
        kept["PYTHONPATH"] = os.pathsep.join(one for one in folders if one not in ("", "."))
    return {**_SET, **kept}


def python_environment(interpreter: Interpreter, environment: Mapping[str, str]) -> dict[str, str]:
    """Return `environment` changed as by activation, so that programs are found beside the interpreter."""
    prefix = Path(interpreter.path).parent.parent
    first = [interpreter.programs] if interpreter.programs else []
    made = dict(environment)
    if (prefix / "pyvenv.cfg").exists() and interpreter.path != own_interpreter().path:
        first.append(str(prefix / "bin"))
        made["VIRTUAL_ENV"] = str(prefix)
    made["PATH"] = os.pathsep.join([*first, *([environment["PATH"]] if environment.get("PATH") else [])])
    return made


def find_python(python: str, environ: Mapping[str, str]) -> Interpreter:
    """Return the Python for kernels: `python`, else that of the active environment, else terp's own."""
    if python:
        return Interpreter(str(typed_path(python)), "as configured")
    path, variable = active_python(environ)
    if path and not has_module(path, "ipykernel_launcher"):
        return own_interpreter(f"terp's own: {environ[variable]} has no ipykernel")
    return Interpreter(path, f"of {variable}") if path else own_interpreter()
