"""Vendored files match their recorded hashes and come with their license."""

import base64
import hashlib
import re
from pathlib import Path

ROOT = Path(__file__).parent.parent


def test_vendored_files_match_their_recorded_hashes() -> None:
    recorded = dict(re.findall(r"`(static/vendor/[^`]+)`, sha384 `([^`]+)`", (ROOT / "THIRD_PARTY.md").read_text()))
    found = {
        str(path.relative_to(ROOT)): base64.b64encode(hashlib.sha384(path.read_bytes()).digest()).decode()
        for path in (ROOT / "static" / "vendor").glob("*.js")
    }
    assert found == recorded


def test_every_local_link_in_a_document_leads_somewhere() -> None:
    for document in ROOT.glob("*.md"):
        for link in re.findall(r"\]\((?!https?:|#|<)([^)]+)\)", document.read_text()):
            assert (ROOT / link.partition("#")[0]).exists(), f"{document.name}: {link}"
