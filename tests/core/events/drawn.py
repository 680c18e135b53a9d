"""Events as hypothesis draws them."""

from typing import Any, get_args

from hypothesis import strategies as st

from terp.events import Event
from terp.events.outputs import Display, DisplayUpdate

# nan is unequal to itself, so no comparison would show that it came back.
st.register_type_strategy(float, st.floats(allow_nan=False))
bundles = st.dictionaries(st.sampled_from(["text/plain", "image/png"]), st.text())
for kind in (Display, DisplayUpdate):
    st.register_type_strategy(kind, st.builds(kind, data=bundles, metadata=st.just({})))
events: st.SearchStrategy[Any] = st.one_of(*(st.from_type(kind) for kind in get_args(Event)))
