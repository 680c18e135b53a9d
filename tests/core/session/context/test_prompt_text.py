"""The system prompt."""

from dataclasses import replace
from typing import Any

from terp.session.context.system_prompt import PromptFacts, prompt_text

FACTS = PromptFacts("Linux", "/home/me/work", ("python",), "3.12.1", 1234)


def test_the_prompt_tells_the_facts_it_is_given() -> None:
    prompt = prompt_text(FACTS)
    for fact in (
        "Linux",
        "/home/me/work",
        "python (version 3.12.1)",
        "1,234 characters",
        "execute(language, code)",
    ):
        assert fact in prompt


def test_equal_facts_give_an_equal_prompt() -> None:
    assert prompt_text(FACTS) == prompt_text(FACTS)


def test_instructions_are_added_and_a_replacement_replaces() -> None:
    assert prompt_text(FACTS, replacement="Be a cat.") == "Be a cat."
    assert prompt_text(FACTS, instructions=" Purr. ", replacement="Be a cat.") == (
        "Be a cat.\n\nInstructions of the user:\nPurr."
    )


def test_the_version_is_that_of_python_also_among_other_languages() -> None:
    prompt = prompt_text(PromptFacts("Linux", "/home/me", ("shell", "python", "r"), "3.12.1"))
    assert "Languages: shell, python (version 3.12.1), r." in prompt


def test_a_shell_is_told_of_where_there_is_one() -> None:
    prompts = [
        prompt_text(PromptFacts("Linux", "/home/me", languages)) for languages in (("python",), ("shell",))
    ]
    assert ["pty COMMAND" in prompt for prompt in prompts] == [False, True]


def test_all_languages_stand_in_one_list_with_those_that_keep_nothing_last() -> None:
    prompt = prompt_text(PromptFacts("Linux", "/home/me/work", ("c", "python", "go"), stateless=("c", "go")))
    assert "Languages: python. Each run a whole program or file, of which nothing stays: c, go." in prompt
    assert "Each run" not in prompt_text(FACTS)


def test_what_a_cell_shows_is_told_where_there_is_python() -> None:
    told = "the value of its last expression, and of no other. out[N] has all that run N put out"
    assert told in prompt_text(FACTS)
    assert told not in prompt_text(replace(FACTS, languages=("shell",)))


def test_how_packages_get_there_is_told_where_they_do() -> None:
    told = "Import a package that is missing as if it were there"
    prompts = [prompt_text(replace(FACTS, installs=installs)) for installs in (False, True)]
    assert [told in prompt for prompt in prompts] == [False, True]


def test_the_list_of_packages_does_not_seem_complete() -> None:
    assert "Python packages, among others: numpy, pandas." in prompt_text(
        replace(FACTS, packages=("numpy", "pandas"))
    )


def test_the_folder_for_temporary_files_is_told_as_the_sandbox_has_it() -> None:
    own = "$TMPDIR and /tmp are the session's own and are deleted when the session ends"
    tiers = ("none", "bubblewrap", "landlock")
    assert [own in prompt_text(replace(FACTS, tier=tier)) for tier in tiers] == [False, True, False]


def test_functions_are_said_to_be_no_tools() -> None:
    told = "Your only tool is execute(language, code). The functions below are called in its Python code."
    assert told in prompt_text(FACTS, functions="Functions: now()")
    assert told not in prompt_text(FACTS)


def test_references_are_told_where_they_work() -> None:
    def told(**more: Any) -> bool:
        return "{{total}}" in prompt_text(replace(FACTS, **more), replacement="Be a cat.")

    assert [told(), told(references=True), told(references=True, code=False)] == [False, True, False]
    assert not told(references=True, languages=("r",))
