"""SHA-256 without OpenSSL."""

import hashlib

from hypothesis import given
from hypothesis import strategies as st

from terp.text.digest import sha256


@given(st.binary())
def test_the_digest_is_that_of_hashlib(content: bytes) -> None:
    assert sha256(content) == hashlib.sha256(content).hexdigest()
