"""gunicorn as `gunicorn.conf.py` configures it."""

import subprocess
import sys

from tests.serving import ROOT

PROGRAM = """
from gunicorn.app.wsgiapp import WSGIApplication
config = WSGIApplication().cfg
print(config.logger_class(config).access_log_enabled)
"""


def test_gunicorn_computes_no_access_log() -> None:
    command = [sys.executable, "-c", PROGRAM, "--config", "gunicorn.conf.py"]
    printed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    assert printed.stdout.split() == ["False"]
