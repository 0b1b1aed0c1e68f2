"""`python -m tests.faults.hostile_service <port> word|anything`: run the hostile service for a real dashboard."""

import sys

from intents_ui.emulator.__main__ import Server
from intents_ui.emulator.app import Emulator
from tests.faults import corpus
from tests.faults.hostile import Hostile, is_anything, is_word

WANTS = {"word": is_word, "anything": is_anything}


def main(port: str, wants: str) -> None:
    service = Hostile([*corpus.XSS, *corpus.UNICODE], corpus.URLS, wants=WANTS[wants], turn=3)
    service.emulator = Emulator()
    Server(service, int(port)).run()


if __name__ == "__main__":
    main(*sys.argv[1:])
