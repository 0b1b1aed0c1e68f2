"""A client of a service on a real socket."""

from collections.abc import Iterator

import pytest

from tests.service.upstream import Upstream, upstream


@pytest.fixture
def service() -> Iterator[Upstream]:
    with upstream() as service:
        yield service
