"""What a person is told about the model they chose."""

from pathlib import Path

from tests.cli.running import Terp


def test_a_model_that_looks_like_another_providers_is_doubted(tmp_path: Path) -> None:
    result = Terp(tmp_path)("-m", "openai/claude-3", "hi")
    assert result.code == 77
    assert result.notes.startswith(
        "terp: 'claude-3' looks like a model of anthropic, but goes to openai.\nterp: "
    )


def test_without_any_model_one_screen_says_what_to_do(tmp_path: Path) -> None:
    result = Terp(tmp_path)("hi")
    assert (result.code, result.out) == (77, "")
    assert "terp demo" in result.notes
    assert "ANTHROPIC_API_KEY" in result.notes
