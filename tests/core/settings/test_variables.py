"""`${VARIABLE}` in what settings say."""

import pytest

from terp.settings.mcp_servers import McpServer, NoVariable, filled_in


def test_variables_are_filled_in_wherever_text_stands() -> None:
    server = McpServer(command="${A}", args=("--key=${A}", "$A"), env={"K": "${A}${A}"}, cwd="${A}")
    assert filled_in(server, {"A": "x"}) == McpServer(
        command="x", args=("--key=x", "$A"), env={"K": "xx"}, cwd="x"
    )


def test_the_value_of_a_variable_is_not_filled_in_again() -> None:
    server = McpServer(url="http://h/${A}", headers={"Authorization": "Bearer ${A}"})
    assert filled_in(server, {"A": "${A}"}).headers == {"Authorization": "Bearer ${A}"}


@pytest.mark.parametrize("environ", [{}, {"A": ""}])
def test_a_variable_that_is_not_set_is_named(environ: dict[str, str]) -> None:
    with pytest.raises(NoVariable) as missing:
        filled_in(McpServer(command="${A}"), environ)
    assert missing.value.message == "${A} is not set in terp's environment."
