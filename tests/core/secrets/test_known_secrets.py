import pytest

from terp.secrets.known_secrets import Secrets
from terp.settings import Settings
from terp.settings.mcp_servers import McpServer

VALUE = "violet-heron-8c1d"


@pytest.mark.parametrize(
    "server",
    [
        McpServer(url=f"https://mcp.example/?api_key={VALUE}"),
        McpServer(command="serve", args=("--token", VALUE)),
        McpServer(command="serve", args=(f"--api-key={VALUE}", "--verbose")),
        McpServer(command="serve", env={"ITS_TOKEN": VALUE}),
        McpServer(url="https://mcp.example", headers={"Authorization": f"Bearer {VALUE}"}),
    ],
)
def test_a_key_in_the_declaration_of_a_server_is_redacted(server: McpServer) -> None:
    secrets = Secrets({}, Settings(mcp_servers={"one": server}), keyring=False)
    assert secrets.redacted(f"it is {VALUE}.") == "it is [redacted]."


def test_the_name_of_a_variable_that_stands_for_a_key_is_not_redacted() -> None:
    server = McpServer(url="https://mcp.example", headers={"Authorization": "Bearer ${TRACKER_TOKEN}"})
    secrets = Secrets({"TRACKER_TOKEN": VALUE}, Settings(mcp_servers={"one": server}), keyring=False)
    told = "${TRACKER_TOKEN} is TRACKER_TOKEN: "
    assert secrets.redacted(told + VALUE) == f"{told}[redacted]"
