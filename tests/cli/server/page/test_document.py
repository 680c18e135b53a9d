"""The document that the page is, without a browser."""

import re
from hashlib import sha256
from pathlib import Path

from terp.events import wire
from terp_cli.server.page.document import frame, page

FOLDER = Path(page.__code__.co_filename).parent


def test_it_is_small_and_loads_nothing() -> None:
    content = page().content.decode()
    # Of these, 72,000 are the two libraries that parse and clean Markdown.
    assert len(page().content) <= 168_000
    assert re.findall(r'<(?:script|link)[^>]* (?:src|href)="(?!data:)[^"]*"', content) == []
    assert re.findall(r"\bimport[ (]", content.partition('<script type="module">')[2]) == []


def test_every_script_is_named_in_the_policy_and_none_is_let_in_otherwise() -> None:
    policy = page().policy
    scripts = re.findall(r"<script[^>]*>", page().content.decode())
    # One more is loaded when there is a formula.
    assert len(scripts) + 1 == policy.partition("script-src")[2].partition(";")[0].count("'sha256-")
    assert "unsafe" not in policy
    assert "frame-ancestors 'none'" in policy


def test_the_frame_for_html_of_code_has_no_network_and_no_origin() -> None:
    policy = frame().policy
    assert policy.startswith("sandbox allow-scripts; default-src 'none'; ")
    assert "connect-src" not in policy
    assert "frame-ancestors 'self'" in policy


def test_old_clients_find_their_elements() -> None:
    content = page().content.decode()
    for name in ("messageInput", "approveCodeButton", "authButton", "messages"):
        assert content.count(f'id="{name}"') == 1


def test_every_event_has_its_place() -> None:
    source = (FOLDER / "scripts" / "events.js").read_text(encoding="utf-8")
    table = source.partition("const TOLD = {")[2]
    assert set(re.findall(r"^  (\w+): \(it", table, re.MULTILINE)) == set(wire.event_types())


def test_every_output_has_its_place() -> None:
    source = (FOLDER / "scripts" / "card.js").read_text(encoding="utf-8")
    assert set(re.findall(r'case "(\w+)":', source)) == set(wire.output_types())


def test_what_others_wrote_is_as_they_published_it() -> None:
    told = (FOLDER / "vendor" / "README.md").read_text(encoding="utf-8")
    written = dict(re.findall(r"^\| (\S+\.js) .*`(\w{64})` \|$", told, re.MULTILINE))
    present = {path.name: sha256(path.read_bytes()).hexdigest() for path in FOLDER.glob("vendor/*.js")}
    licences = {path.stem for path in FOLDER.glob("vendor/*.LICENSE")}
    assert (written, licences) == (present, {"dompurify", "marked", "speed-highlight", "temml"})
