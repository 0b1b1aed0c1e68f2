"""The service's responses as they are, without the client's cache and parsing."""

from typing import Any

import httpx

from intents_ui.service.client import ServiceClient


def post(service: ServiceClient, operation: str, document: Any) -> httpx.Response:
    """Send a request to the service of a client that has an embedded one."""
    url, patience = f"http://embedded/rpc/Service/{operation}", httpx.Timeout(30).as_dict()
    request = httpx.Request("POST", url, json=document, extensions={"timeout": patience})
    response = service.transport.handle_request(request)
    response.read()
    return response
