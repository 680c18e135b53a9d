"""The system prompt."""

from dataclasses import replace
from typing import Any

from terp.prompt import Facts, system_prompt

FACTS = Facts("Linux", "/home/me/work", ("python",), "3.12.1", 1234)


def test_the_prompt_tells_the_facts_it_is_given() -> None:
    prompt = system_prompt(FACTS)
    for fact in (
        "Linux",
        "/home/me/work",
        "python (version 3.12.1)",
        "1,234 characters",
        "execute(language, code)",
    ):
        assert fact in prompt


def test_equal_facts_give_an_equal_prompt() -> None:
    assert system_prompt(FACTS) == system_prompt(FACTS)


def test_instructions_are_added_and_a_replacement_replaces() -> None:
    assert system_prompt(FACTS, replacement="Be a cat.") == "Be a cat."
    assert system_prompt(FACTS, instructions=" Purr. ", replacement="Be a cat.") == (
        "Be a cat.\n\nInstructions of the user:\nPurr."
    )


def test_the_version_is_that_of_python_also_among_other_languages() -> None:
    prompt = system_prompt(Facts("Linux", "/home/me", ("shell", "python", "r"), "3.12.1"))
    assert "Languages: shell, python (version 3.12.1), r." in prompt


def test_a_shell_is_told_of_where_there_is_one() -> None:
    prompts = [
        system_prompt(Facts("Linux", "/home/me", languages)) for languages in (("python",), ("shell",))
    ]
    assert ["pty COMMAND" in prompt for prompt in prompts] == [False, True]


def test_the_model_is_told_which_languages_keep_nothing() -> None:
    facts = Facts("Linux", "/home/me/work", ("python", "c", "go"), stateless=("c", "go"))
    told = "- In c, go each run is a whole program or file: nothing stays there.\n"
    assert (told in system_prompt(facts), told in system_prompt(FACTS)) == (True, False)


def test_references_are_told_where_they_work() -> None:
    def told(**more: Any) -> bool:
        return "{{total}}" in system_prompt(replace(FACTS, **more), replacement="Be a cat.")

    assert [told(), told(references=True), told(references=True, code=False)] == [False, True, False]
    assert not told(references=True, languages=("r",))
