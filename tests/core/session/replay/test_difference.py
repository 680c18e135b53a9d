import base64
import struct
import zlib

from terp.events.outputs import Display, Error, Omitted, Output, Text
from terp.session.replay.difference import difference
from tests.core.store.export.scripted import png


def picture(encoded: str) -> Display:
    return Display({"image/png": encoded, "text/plain": "<Figure size 640x480 with 1 Axes>"})


def with_note(encoded: str, note: bytes) -> str:
    """The picture with a text chunk before its end."""
    content = base64.b64decode(encoded)
    chunk = b"tEXt" + b"Software\0" + note
    told = struct.pack(">I", len(chunk) - 4) + chunk + struct.pack(">I", zlib.crc32(chunk))
    return base64.b64encode(content[:-12] + told + content[-12:]).decode()


def test_the_same_is_no_difference() -> None:
    outputs: list[Output] = [Text("stdout", "a\n"), picture(png()), Error("E", "x", ("line 3",))]
    assert difference(outputs, outputs, "run 1") == ""


def test_only_what_differs_is_shown() -> None:
    then = [Text("stdout", "<A at 0x7f0000000001>\n1\n2\n")]
    now = [Text("stdout", "<A at 0x7f0000000002>\n1\n3\n")]
    expected = "--- run 1 then\n+++ run 1 now\n@@ -2,2 +2,2 @@\n 1\n-2\n+3"
    assert difference(then, now, "run 1") == expected


def test_a_line_more_does_not_hide_what_passes() -> None:
    then = [Text("stdout", "<A at 0x7f0000000001>\nend\n")]
    now = [Text("stdout", "new\n<A at 0x7f0000000002>\nend\n")]
    expected = "--- run 1 then\n+++ run 1 now\n@@ -1 +1,2 @@\n+new\n <A at 0x7f0000000001>"
    assert difference(then, now, "run 1") == expected


def test_pictures_differ_by_their_size_and_hash() -> None:
    told = difference([picture(png(8, 4))], [picture(png(9, 4))], "run 1").splitlines()
    changed = [line.rpartition(" ")[0] for line in told if line[1:].startswith("[image")]
    assert changed == ["-[image/png 8×4", "+[image/png 9×4"]


def test_what_a_picture_says_about_itself_is_no_difference() -> None:
    then, now = with_note(png(), b"Matplotlib 3.9"), with_note(png(), b"Matplotlib 3.10")
    assert difference([picture(then)], [picture(now)], "run 1") == ""


def test_stderr_is_not_in_step_with_stdout() -> None:
    out, err = Text("stdout", "a\n"), Text("stderr", "b\n")
    assert difference([out, err], [err, out], "run 1") == ""


def test_a_traceback_is_its_last_line() -> None:
    then, now = Error("ValueError", "bad", ("File /a",)), Error("ValueError", "bad", ("File /b",))
    assert difference([then], [now], "run 1") == ""
    assert "+ValueError: worse" in difference([then], [Error("ValueError", "worse")], "run 1")


def test_how_much_was_left_out_is_no_difference() -> None:
    assert difference([Omitted(10, 2, True)], [Omitted(11, 2, True)], "run 1") == ""


def test_a_long_difference_is_cut() -> None:
    now = [Text("stdout", "".join(f"{n}\n" for n in range(1000)))]
    assert difference([], now, "run 1").splitlines()[-1] == "… 803 more lines"


def test_text_is_compared_as_it_was_kept() -> None:
    then, now = [Text("stdout", "key [redacted]\n")], [Text("stdout", "key abc\n")]
    assert difference(then, now, "run 1", as_kept=lambda text: text.replace("abc", "[redacted]")) == ""
