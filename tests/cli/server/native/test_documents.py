"""docs/server.md is as the code is."""

from terp_cli.server.native.documents import document, fresh, place


def test_the_page_of_the_server_is_fresh() -> None:
    page = place().read_text(encoding="utf-8")
    assert fresh(page, document()) == page, "python -m terp_cli.server.native.documents writes it anew"
