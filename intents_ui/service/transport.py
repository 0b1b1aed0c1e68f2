"""The way from a blocking httpx client to the network: an httpcore pool whose waits end with the call (`deadline`)."""

from collections.abc import Iterator
from typing import cast

import httpcore
import httpx

from intents_ui.service.deadline import DeadlineBackend

KEEP_ALIVE_SECONDS = 15.0


class DeadlineTransport(httpx.BaseTransport):
    """httpx's own transport takes no network backend. Raises httpcore's exceptions as they are."""

    def __init__(self, *, connections: int) -> None:
        self._pool = httpcore.ConnectionPool(
            ssl_context=httpx.create_ssl_context(trust_env=False),
            max_connections=connections,
            max_keepalive_connections=connections,
            keepalive_expiry=KEEP_ALIVE_SECONDS,
            network_backend=DeadlineBackend(),
        )

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        url = request.url
        response = self._pool.handle_request(
            httpcore.Request(
                request.method,
                httpcore.URL(scheme=url.raw_scheme, host=url.raw_host, port=url.port, target=url.raw_path),
                headers=request.headers.raw,
                content=cast(httpx.SyncByteStream, request.stream),
                extensions=request.extensions,
            )
        )
        return httpx.Response(
            response.status,
            headers=response.headers,
            stream=_Body(response),
            extensions=response.extensions,
        )

    def close(self) -> None:
        self._pool.close()


class _Body(httpx.SyncByteStream):
    def __init__(self, response: httpcore.Response) -> None:
        self._response = response

    def __iter__(self) -> Iterator[bytes]:
        yield from self._response.iter_stream()

    def close(self) -> None:
        self._response.close()
