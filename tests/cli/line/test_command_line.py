"""What a command line means."""

import re
import shlex
from pathlib import Path

import pytest

from terp.errors import SettingsError
from terp.settings import Settings
from terp.settings.setting import table
from terp.settings.sources import Given
from terp_cli.line.command_line import CommandLine, read_command_line
from terp_cli.line.flags import Options, all_flags, long_names
from terp_cli.line.help import help_text
from terp_cli.line.subcommands import SUBCOMMANDS
from tests.cli.running import Terp

ATTACHED = "last or the ID of a session; or a notebook, a file or the name of a kernel, and then a prompt"


def read(*arguments: str) -> CommandLine:
    return read_command_line(arguments)


def refused(*arguments: str) -> str:
    with pytest.raises(SettingsError) as caught:
        read(*arguments)
    [problem] = caught.value.problems
    return problem


def test_words_and_flags_come_in_any_order() -> None:
    line = read("plot", "-y", "iris", "-m", "a/b", "now")
    assert line.words == ("plot", "iris", "now")
    assert line.given == {"auto_run": Given(True, "-y"), "model": Given("a/b", "-m")}


def test_a_flag_that_takes_names_can_be_given_again() -> None:
    line = read("--tools", "a.py,b.py", "--tools=c.yaml", "-f", "x.csv", "-f", "y.csv", "go")
    assert line.given == {"tools": Given(("a.py", "b.py", "c.yaml"), "--tools")}
    assert line.options.file == ("x.csv", "y.csv")


@pytest.mark.parametrize("flag", ["--max_steps=3", "--max-steps=3", "--max_steps 3"])
def test_hyphens_and_underscores_are_alike(flag: str) -> None:
    assert read(*flag.split()).given == {"max_steps": Given(3, "--max-steps")}


def test_an_underscore_in_a_value_stays() -> None:
    assert read("--model=a_b").given["model"].value == "a_b"


def test_every_setting_is_a_flag_by_its_own_name() -> None:
    names = {"--" + name.replace("_", "-") for name, row in table(Settings).items() if row.has_flag}
    assert names <= set(all_flags())


def test_every_flag_has_one_meaning() -> None:
    spellings = [
        flag for declared in (Settings, Options) for row in table(declared).values() for flag in row.flags
    ]
    assert len(spellings) == len(set(spellings))


def test_short_flags_can_be_grouped() -> None:
    line = read("-yiq")
    assert line.given == {"auto_run": Given(True, "-y")}
    assert line.options == Options(interactive=True, quiet=True)


def test_a_short_flag_takes_its_value_from_the_same_word() -> None:
    assert read("-ymgpt-5").given["model"].value == "gpt-5"


def test_two_letter_flags_are_not_taken_apart() -> None:
    assert read("-ci", "be brief").given == {"instructions": Given("be brief", "-ci")}


def test_a_switch_is_turned_off_with_no() -> None:
    assert read("--no_auto_run").given == {"auto_run": Given(False, "--no-auto-run")}
    assert read("--auto_run=off").given == {"auto_run": Given(False, "--auto-run")}
    assert read("-iy=off") == CommandLine(
        given={"auto_run": Given(False, "-y")}, options=Options(interactive=True)
    )


def test_a_value_can_begin_with_a_hyphen() -> None:
    assert read("-f", "-x.csv", "-ci=-brief") == CommandLine(
        given={"instructions": Given("-brief", "-ci")}, options=Options(file=("-x.csv",))
    )


def test_attachments_collect_and_may_hold_commas() -> None:
    assert read("-f", "a,b.csv", "--file=c d.csv").options.file == ("a,b.csv", "c d.csv")


def test_free_entries_are_one_each_and_may_hold_commas() -> None:
    flag = "--kernel-provisioner-config"
    config = read(flag, 'hosts=["a", "b"]', f"{flag}=tries=3", flag, "tries=4", flag, "queue=a,b")
    given = Given({"hosts": ["a", "b"], "tries": 4, "queue": "a,b"}, flag)
    assert config.given == {"kernel_provisioner_config": given}


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        (("tries",), 'is "tries", must be a group of entries by name, in a flag NAME=VALUE.'),
        ((), "needs a value: NAME=VALUE."),
    ],
)
def test_a_free_entry_needs_a_name_and_a_value(words: tuple[str, ...], problem: str) -> None:
    flag = "--kernel-provisioner-config"
    with pytest.raises(SettingsError) as caught:
        read(flag, *words)
    assert caught.value.problems == (f"{flag} {problem}",)


@pytest.mark.parametrize(
    ("words", "meant"),
    [
        (("-",), ("-",)),
        (("-5",), ("-5",)),
        (("- a list",), ("- a list",)),
        (("-a list",), ("-a list",)),
        (("-i don't know",), ("-i don't know",)),
        (("--verbose, what is it?",), ("--verbose, what is it?",)),
        (("--", "-y", "--x"), ("-y", "--x")),
        (("a", "--", "-y"), ("a", "-y")),
    ],
)
def test_what_is_no_flag_is_a_word(words: tuple[str, ...], meant: tuple[str, ...]) -> None:
    assert read(*words).words == meant


@pytest.mark.parametrize("command", ["demo", "doctor", "languages", "profiles"])
def test_a_first_word_is_a_command_when_nothing_follows(command: str) -> None:
    assert read(command).command == command
    assert read(command, "-y").command == command
    assert read(f"{command} me please").words == (f"{command} me please",)
    assert read("--", command).words == (command,)


def test_run_is_a_command_when_a_file_follows(tmp_path: Path) -> None:
    path = tmp_path / "code"
    path.touch()
    assert (read("run", str(path)).command, read("run", str(path)).argument) == ("run", str(path))
    assert read("run", "-").command == "run"
    assert read("run", "missing.py").command == "run"


@pytest.mark.parametrize(
    ("words", "kernel", "prompt"),
    [
        (("attach", "1a2b"), "1a2b", ()),
        (("attach", "kernel.json", "what", "is", "df?"), "kernel.json", ("what", "is", "df?")),
        (("attach", "newest", "sum it up"), "newest", ("sum it up",)),
        (("attach", "gone.ipynb", "sum it up"), "gone.ipynb", ("sum it up",)),
        (("-y", "attach", "newest", "go"), "newest", ("go",)),
    ],
)
def test_a_kernel_to_attach_to_is_a_setting_of_the_conversation(
    words: tuple[str, ...], kernel: str, prompt: tuple[str, ...]
) -> None:
    line = read(*words)
    assert line.given["attach"] == Given(kernel, "terp attach")
    assert (line.command, line.words) == ("", prompt)


@pytest.mark.parametrize(
    ("words", "session"),
    [(("attach",), ""), (("attach", "last"), "last"), (("attach", "2026-11-28-5f"), "2026-11-28-5f")],
)
def test_a_detached_session_is_attached_by_a_command(words: tuple[str, ...], session: str) -> None:
    line = read(*words)
    assert (line.command, line.argument, "attach" in line.given) == ("attach", session, False)


def test_to_attach_is_a_prompt_behind_dashes() -> None:
    assert read("--", "attach", "x") == CommandLine(words=("attach", "x"))


@pytest.mark.parametrize(
    ("words", "wanted"),
    [
        ("sessions frob", "it takes list, show ID, search WORDS, rm ID…, prune, import FILE"),
        ("run nofile", "it takes an existing file, or - for stdin"),
        ("run", "it takes an existing file, or - for stdin"),
        ("export", "it takes ipynb, py, md, html, and then the ID of a session"),
        ("export pdf", "it takes ipynb, py, md, html, and then the ID of a session"),
        ("completions tcsh", "it takes bash, zsh, fish"),
        ("demo please", "it takes nothing"),
        ("version", "use terp --version"),
        ("keys lost in translation", "it takes list, set PROVIDER, delete PROVIDER"),
        ("run the tests in this repo", "it takes an existing file, or - for stdin"),
        ("replay the last", "it takes the ID of a session, its folder, or a recording"),
        ("export 'my bookmarks'", "it takes ipynb, py, md, html, and then the ID of a session"),
        ("attach nope 'what is df?'", f"it takes {ATTACHED}"),
        ("attach 'my report to it'", f"it takes {ATTACHED}"),
        ("tools here", "it takes nothing"),
    ],
)
def test_a_subcommand_that_does_not_fit_is_refused_with_the_remedy(words: str, wanted: str) -> None:
    told = f"'terp {words}' is no command: {wanted}. To ask the model: terp -- {words}"
    assert refused(*shlex.split(words)) == told


def test_a_verb_that_is_missed_by_a_letter_is_no_prompt() -> None:
    with pytest.raises(SettingsError) as refused:
        read("profiles", "shwo", "work")
    told = "'terp profiles shwo' is no command. Did you mean terp profiles show?"
    assert refused.value.problems == (f"{told} To ask the model: terp -- profiles shwo work",)


@pytest.mark.parametrize(
    "words",
    [
        ("run the tests",),
        ("help", "me", "plot"),
        ("explore", "it"),
        ("session", "please"),
        ("reply", "hello"),
        ("profile", "this", "script"),
        ("--", "sessions", "frob"),
        ("versions",),
    ],
)
def test_a_sentence_that_calls_no_subcommand_is_a_prompt(words: tuple[str, ...]) -> None:
    assert read(*words).words == tuple(word for word in words if word != "--")


def test_help_is_shown_behind_a_subcommand_that_lacks_its_argument() -> None:
    assert read("export", "--help").options.help


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (("--modle", "x"), "unknown flag --modle. Did you mean --model?"),
        (("--yes",), "unknown flag --yes. Did you mean -y?"),
        (("--format", "json"), "unknown flag --format. Did you mean --output-format?"),
        (("--nosuch",), "unknown flag --nosuch. terp --help lists them."),
        (("--zzzzzz",), "unknown flag --zzzzzz. terp --help lists them."),
        (("--max-steps", "x"), '--max-steps is "x", must be a whole number, 0 or more.'),
        (("--model",), "--model needs a value: NAME."),
        (("-m", "-y"), "-m needs a value: NAME."),
        (("-m", "--max_steps=3"), "-m needs a value: NAME."),
        (("-yz",), "unknown flag -yz. Did you mean -y?"),
        (("-jh",), "unknown flag -jh. Did you mean -h?"),
        (("--no-auto-run=off",), "--no-auto-run takes no value."),
        (("--fast=local",), "--fast takes no value."),
        (("--output-format", "xml"), '--output-format is "xml", must be one of text, json, stream-json.'),
        (("--server", "hello"), "--server takes no prompt and no command: clients send the prompts."),
        (
            ("--loop",),
            "--loop: a task is not repeated by itself; --until CHECK repeats it until a check passes.",
        ),
        (
            ("-o", "plot iris"),
            "-o names a folder, and there is no 'plot iris'. "
            "Open Interpreter's -o is --offline, which terp does not need.",
        ),
        (("-f", "hello"), "there is no file 'hello' to attach. Open Interpreter's -f is --fast."),
        (("-f",), "-f needs a value: FILE. Open Interpreter's -f is --fast."),
        (
            ("-l", "hi", "there"),
            "-l names the language for terp run and terp rules. Open Interpreter's -l is --local.",
        ),
        (
            ("--safe_mode", "ask"),
            "--safe_mode: code always needs approval unless -y is given; leave it out.",
        ),
    ],
)
def test_a_mistake_is_one_line(arguments: tuple[str, ...], problem: str) -> None:
    assert refused(*arguments) == problem


@pytest.mark.parametrize(
    ("flag", "name", "value"),
    [
        ("-lsv", "supports_vision", True),
        ("--no_llm_supports_vision", "supports_vision", False),
        ("--llm_supports_functions", "supports_tools", True),
        ("-nlsf", "supports_tools", False),
    ],
)
def test_switches_of_open_interpreter_set_what_they_mean(flag: str, name: str, value: bool) -> None:
    assert read(flag).given[name].value is value


@pytest.mark.parametrize(
    ("arguments", "name", "value"),
    [
        (("-sm", "x"), "system_message", "x"),
        (("--custom_instructions", "x"), "instructions", "x"),
        (("-t", "0.5"), "temperature", 0.5),
        (("-cw", "8"), "context_window", 8),
        (("-x", "9"), "max_tokens", 9),
        (("-b", "0.1"), "max_budget_usd", 0.1),
        (("-ab", "u"), "api_base", "u"),
        (("-av", "1"), "api_version", "1"),
        (("-xo", "600"), "max_output_chars", 600),
    ],
)
def test_values_of_open_interpreter_set_what_they_mean(
    arguments: tuple[str, str], name: str, value: object
) -> None:
    assert read(*arguments).given[name].value == value


def test_fast_and_local_name_profiles() -> None:
    assert [read("--fast").options.profile, read("--local").options.profile] == ["fast", "local"]


def test_flags_without_a_loss_are_told_and_passed_over() -> None:
    assert read("--disable_telemetry", "hi") == CommandLine(
        words=("hi",), notices=("--disable_telemetry: there is no telemetry to disable.",)
    )


@pytest.mark.parametrize(
    ("flag", "notice"),
    [
        ("-vi", "-vi is -v -i here. Open Interpreter's -vi is --vision."),
        ("-s", "-s: stdin is the prompt whenever no words are given."),
    ],
)
def test_a_short_flag_with_another_meaning_here_says_so(flag: str, notice: str) -> None:
    assert read(flag, "hi").notices == (notice,)


@pytest.mark.parametrize("topic", ["", "all", *(one.name for one in SUBCOMMANDS)])
def test_the_help_fits_into_80_columns(topic: str) -> None:
    assert [line for line in help_text(topic).splitlines() if len(line) > 80] == []


def test_the_help_of_all_names_every_setting() -> None:
    text = help_text("all")
    settable = [row for row in table(Settings).values() if row.has_flag]
    assert [row.name for row in settable if long_names(row)[0] not in text] == []


def test_the_help_fits_on_a_screen_and_names_every_command() -> None:
    lines = help_text().splitlines()
    assert len(lines) < 40
    others = help_text().partition("  and terp ")[2].partition("\n\n")[0]
    listed = [one.name for one in SUBCOMMANDS if any(f"  terp {one.name} " in line for line in lines)]
    assert [
        one.name for one in SUBCOMMANDS if one.name not in (*listed, *re.findall(r"[\w-]+", others))
    ] == []


@pytest.mark.parametrize(
    ("words", "topic"),
    [
        ("--help", ""),
        ("help", ""),
        ("help run", "run"),
        ("help all", "all"),
        ("--help all", "all"),
        ("run --help", "run"),
        ("run - -h", "run"),
        ("attach -h", "attach"),
        ("sessions show --help", "sessions"),
        ("plot it --help", ""),
        ("help me", None),
    ],
)
def test_help_is_asked_for_before_and_after_a_command(words: str, topic: str | None) -> None:
    if topic is None:
        assert "is no command" in refused(*words.split())
    else:
        assert read_command_line(words.split()).help == topic


@pytest.mark.parametrize("words", ["help doctr", "doctr --help", "--help doctr"])
def test_help_on_a_misspelt_command_names_the_near_one(words: str) -> None:
    with pytest.raises(SettingsError, match=r"'doctr' is no command\. Did you mean terp help doctor\?"):
        read_command_line(words.split())


def test_help_with_several_words_is_a_prompt() -> None:
    assert read("help", "me", "plot").words == ("help", "me", "plot")


def test_the_help_of_a_command_has_its_own_flags_and_an_example() -> None:
    text = help_text("run")
    assert "--language" in text and "terp run -" in text and "--profile" not in text


@pytest.mark.parametrize(
    ("words", "command", "argument", "more"),
    [
        (["export", "md"], "export", "md", ()),
        (["export", "ipynb", "2026-11-21-ab"], "export", "ipynb", ("2026-11-21-ab",)),
        (["export everything"], "", "", ()),
    ],
)
def test_export_is_a_command_before_a_format(
    words: list[str], command: str, argument: str, more: tuple[str, ...]
) -> None:
    line = read_command_line(words)
    assert (line.command, line.argument, line.arguments) == (command, argument, more)


@pytest.mark.parametrize(
    ("line", "meant"),
    [
        ("session", "sessions"),
        ("Sesions", "sessions"),
        ("dmeo", "demo"),
        ("doctr", "doctor"),
        ("completion", "completions"),
        ("profile list", "profiles list"),
        ("profils show work", "profiles show work"),
        ("reply 2026-11-21-ab", "replay 2026-11-21-ab"),
        ("solv ./two-sum", "solve ./two-sum"),
        ("atach newest 'what is df?'", "attach newest 'what is df?'"),
    ],
)
def test_words_that_miss_a_subcommand_by_a_letter_are_refused_with_it(line: str, meant: str) -> None:
    first, *more = shlex.split(line)
    told = f"'{first}' is no command. Did you mean terp {meant}? To ask the model: terp -- {line}"
    assert refused(first, *more) == told


def test_a_mistyped_subcommand_is_sent_to_no_model(tmp_path: Path) -> None:
    result = Terp(tmp_path).asked(["It is well."], "doctr")
    assert (result.code, result.out, result.requests) == (2, "", [])
    assert result.notes == (
        "terp: 'doctr' is no command. Did you mean terp doctor? To ask the model: terp -- doctr\n"
    )


def test_the_option_watch_of_the_mcp_server_is_no_setting() -> None:
    assert read("mcp-server", "--watch").options.watch
    assert read("--watch-condition", "x > 1").given == {"watch": Given("x > 1", "--watch-condition")}
