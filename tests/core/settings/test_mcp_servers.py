import pytest

from terp.settings.mcp_servers import McpServer


@pytest.mark.parametrize(
    ("url", "where"),
    [
        ("https://mcp.example/s/0a1b2c3d4e/mcp", "https://mcp.example/…"),
        ("https://mcp.example?token=0a1b2c3d4e", "https://mcp.example/…"),
        ("https://me:0a1b2c3d4e@mcp.example:8443/", "https://mcp.example:8443"),
    ],
)
def test_where_a_server_is_tells_no_key(url: str, where: str) -> None:
    assert McpServer(url=url).where == where


def test_a_program_is_where_its_command_is() -> None:
    assert McpServer(command="npx", args=("-y", "server")).where == "npx -y server"
