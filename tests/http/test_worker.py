"""The worker's connections, without a socket."""

from unittest.mock import MagicMock

from gunicorn.asgi.protocol import ASGIProtocol


def test_gunicorn_bounds_what_a_connection_buffers_by_the_name_that_we_set() -> None:
    assert ASGIProtocol(MagicMock())._max_buffer_size == 256 * 1024
