"""The system prompt."""

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


def test_the_version_stands_beside_python_among_other_languages() -> None:
    facts = Facts("Linux", "/home/me/work", ("python", "shell"), "3.12.1")
    assert "Languages: python (version 3.12.1), shell.\n" in system_prompt(facts)


def test_the_model_is_told_which_languages_keep_nothing() -> None:
    facts = Facts("Linux", "/home/me/work", ("python", "c", "go"), stateless=("c", "go"))
    told = "What you run in c, go must be whole each time: nothing stays there."
    assert (told in system_prompt(facts), told in system_prompt(FACTS)) == (True, False)
