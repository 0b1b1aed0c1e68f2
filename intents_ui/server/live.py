"""Live streams (`/live/…`) of this process, which need no thread."""

from django.conf import settings

from intents_ui import wiring
from intents_ui.live.stream import Limits, Streams
from intents_ui.middleware import request_limits, security_headers
from intents_ui.pages import intent as intent_page
from intents_ui.web import client_ip

# Other clients poll.
STREAMS = 2500  # of this process
STREAMS_PER_CLIENT = 20  # per IP address (IPv6: per /64)


@wiring.once
def streams() -> Streams:
    return Streams(
        wiring.hub(),
        intent_page.receipt_fragment,
        instead=intent_page.polling_fragment,
        address_of=lambda scope: client_ip.address_of(scope, settings.ENV.trusted_proxies),
        share_of=lambda scope: client_ip.counted(scope, settings.ENV.trusted_proxies),
        wait=request_limits.wait_to_stream,
        headers=security_headers.at_the_door(),
        stopping=wiring.lifecycle().is_stopping,
        limits=Limits(streams=STREAMS, an_address=STREAMS_PER_CLIENT),
    )
