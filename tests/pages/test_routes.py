"""Where a token can go, what can pay for one, and whether one route is listed."""

import re

import pytest
from django.http import HttpResponse
from django.test import Client

NATIVE = "0x" + "0" * 40


def words(answer: HttpResponse) -> str:
    text = re.sub(r"<[^>]+>", " ", answer.content.decode())
    return re.sub(r"\s+", " ", text)


@pytest.mark.parametrize(
    ("query", "said"),
    [
        pytest.param(f"from=8453&token={NATIVE}", r"Yes: \d+ tokens on \d+ chains can be had for ETH on Base"),
        pytest.param(f"to=8453&for={NATIVE}", r"Yes: \d+ tokens on \d+ chains can pay for ETH on Base"),
        pytest.param(f"from=8453&token={NATIVE}&to=10&for={NATIVE}", "Yes: the service lists a route"),
    ],
)
def test_a_question_has_its_answer(site: Client, query: str, said: str) -> None:
    answer = site.get(f"/routes?{query}")
    assert answer.status_code == 200
    assert re.search(said, words(answer))
