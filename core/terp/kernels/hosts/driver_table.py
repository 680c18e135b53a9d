"""The languages that are driven by a script in their own language, kept in `drivers`."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

# A chunk of Lua can be interrupted once: so many times until the program has to be started anew.
_LUA_CHUNKS = 500


@dataclass(frozen=True, slots=True)
class Driver:
    """How a language is driven: its script, the command line, and what Jupyter wants to know of it.

    In `command` stand `{program}`, the `{folder}` in which it is, `{script}`, and `{code}` and `{verdict}`
    for the descriptors. With `alone` an interrupt goes to the program and to nothing that it has started.
    `word` finds the word before the cursor that can be completed; without it the script answers no questions.
    """

    title: str
    script: str
    command: tuple[str, ...]
    extension: str
    mimetype: str
    word: str = ""
    alone: bool = False

    def argv(self, program: str, code: int, verdict: int) -> list[str]:
        """The command line."""
        script = str(Path(__file__).with_name("drivers") / self.script)
        folder = str(Path(program).parent)
        values = {"program": program, "folder": folder, "script": script, "code": code, "verdict": verdict}
        return [part.format(**values) for part in self.command]


_PLAIN = ("{program}", "{script}", "{code}", "{verdict}")

DRIVERS: Mapping[str, Driver] = {
    "ruby": Driver(
        "Ruby", "ruby.rb", _PLAIN, ".rb", "text/x-ruby", r"[@$]{0,2}[\w:.]*\w[?!]?\Z|[\w)]\.\Z|\w::\Z"
    ),
    "php": Driver(
        "PHP",
        "php.php",
        (
            "{program}",
            "-d",
            "display_errors=stderr",
            "-d",
            "html_errors=0",
            "-d",
            "log_errors=0",
            *_PLAIN[1:],
        ),
        ".php",
        "text/x-php",
        word=r"\$?\w+(?:(?:->|::)\w*)*\Z|\$\Z",
    ),
    "perl": Driver("Perl", "perl.pl", _PLAIN, ".pl", "text/x-perl", word=r"[$@%&]?\w[\w:]*\Z|[$@%&]\Z"),
    "lua": Driver(
        "Lua",
        "lua.lua",
        (
            "{program}",
            "-e",
            "arg={{[[{code}]],[[{verdict}]]}} TERP=dofile([[{script}]])",
            *("-e", "TERP()") * _LUA_CHUNKS,
        ),
        ".lua",
        "text/x-lua",
        word=r"[A-Za-z_]\w*(?:[.:]\w*)*\Z",
    ),
    "r": Driver(
        "R",
        "r.R",
        ("{program}", "--no-restore", "--no-save", "{script}", "{code}", "{verdict}"),
        ".r",
        "text/x-r-source",
        word=r"[A-Za-z.][\w.]*(?:(?:\$|@|:::?)[\w.]*)*\Z",
    ),
    "java": Driver(
        "Java",
        "JShellDriver.java",
        # The first compiler of two starts sooner; code that computes for long is rare in a cell.
        ("{folder}/java", "-XX:TieredStopAtLevel=1", *_PLAIN[1:]),
        ".java",
        "text/x-java",
        word=r"[A-Za-z_]\w*(?:\.\w*)*\Z",
        # The code runs in a second machine below, which SIGINT would end.
        alone=True,
    ),
    "powershell": Driver(
        "PowerShell",
        "powershell.ps1",
        ("{program}", "-NoLogo", "-NoProfile", "-NonInteractive", "-File", *_PLAIN[1:]),
        ".ps1",
        "text/x-powershell",
    ),
    "javascript": Driver(
        "Node", "node.cjs", _PLAIN, ".js", "text/javascript", r"[A-Za-z_$][\w$]*(?:\??\.[\w$]*)*\Z"
    ),
}
