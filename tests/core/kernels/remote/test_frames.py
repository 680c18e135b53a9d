import json
import struct

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from terp.kernels.jupyter.channels import new_request
from terp.kernels.remote.wire import frame_of, message_in, old_frame_of

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=5,
)
OBJECTS = st.dictionaries(st.text(), JSON)


@settings(max_examples=40)
@given(content=OBJECTS, metadata=OBJECTS, channel=st.sampled_from(["shell", "iopub", "stdin", "control"]))
def test_a_message_comes_out_of_its_frame_as_it_went_in(
    content: dict[str, object], metadata: dict[str, object], channel: str
) -> None:
    message = new_request("execute_request", content, metadata=metadata)
    expected = (channel, {**message, "msg_type": "execute_request"})
    assert message_in(frame_of(channel, message), v1=True) == expected
    assert message_in(old_frame_of(channel, message), v1=False) == expected


def test_binary_buffers_are_left_out() -> None:
    message = new_request("comm_msg", {"data": 1})
    frame = frame_of("iopub", message)
    (count,) = struct.unpack_from("<Q", frame)
    offsets = struct.unpack_from(f"<{count}Q", frame, 8)
    moved = [offset + 8 for offset in offsets] + [len(frame) + 8 + 4]
    with_buffer = struct.pack(f"<{count + 2}Q", count + 1, *moved) + frame[offsets[0] :] + b"\x00\x01\x02\x03"
    assert message_in(with_buffer, v1=True) == message_in(frame, v1=True)


def test_the_binary_frames_of_older_servers_are_read_without_their_buffers() -> None:
    text = json.dumps({**new_request("comm_msg", {"data": 1}), "channel": "iopub"}).encode()
    frame = struct.pack("!3I", 2, 12, 12 + len(text)) + text + b"\x00\x01"
    channel, message = message_in(frame, v1=False)
    assert (channel, message["content"]) == ("iopub", {"data": 1})


@given(st.binary(max_size=300) | st.text(max_size=300), st.booleans())
def test_what_is_no_frame_is_refused(frame: bytes | str, v1: bool) -> None:
    with pytest.raises(ValueError):
        message_in(frame, v1=v1)


@given(st.integers(0, 400))
def test_a_frame_that_is_cut_off_is_refused(length: int) -> None:
    frame = frame_of("shell", new_request("execute_request", {"code": "x"}))
    with pytest.raises(ValueError):
        message_in(frame[: min(length, len(frame) - 1)], v1=True)
