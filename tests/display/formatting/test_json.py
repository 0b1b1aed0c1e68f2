"""A JSON response as indented text: everything in order and exact."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from intents_ui.formatting import json_text

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=20,
)


def test_each_field_is_on_its_own_line():
    assert json_text.indented('{"a":[1,2],"b":{},"c":[ ]}') == (
        '{\n  "a": [\n    1,\n    2\n  ],\n  "b": {},\n  "c": []\n}'
    )


@pytest.mark.parametrize("token", ["1.50", "1e+30", "1E-07", "-0.0", '"\\u0041\\/"', '"a\\"b"', '"{[,:]}"', "1" * 78])
def test_every_json_token_is_preserved(token):
    assert json_text.indented(f'{{"a":{token}}}') == f'{{\n  "a": {token}\n}}'


@given(VALUES, st.sampled_from([None, 1]))
def test_the_layout_equals_the_standard_librarys(value, indent):
    compact = json.dumps(value, indent=indent)
    assert json_text.indented(compact) == json.dumps(value, indent=2)
