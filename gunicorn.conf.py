"""gunicorn configuration: our ASGI worker on one port, configured by `intents_ui.settings`."""

import logging
import os
import shutil
import tempfile
from typing import Any

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "intents_ui.settings")

from intents_ui import settings
from intents_ui.ops import lifecycle

FIGURES = "PROMETHEUS_MULTIPROC_DIR"

wsgi_app = "intents_ui.asgi:application"
worker_class = "intents_ui.worker.Worker"
workers = settings.ENV.web_concurrency
bind = settings.ENV.authority
asgi_lifespan = "on"
graceful_timeout = 20
timeout = 60
keepalive = 15  # longer than the proxy keeps its idle connections (deploy/nginx.conf)
limit_request_line = 100_000  # bytes. A search can have a message of 10,000 characters, each as three escaped bytes.
# Proxies whose `X-Forwarded-Proto` is trusted.
forwarded_allow_ips = ",".join(["127.0.0.1", "::1", *map(str, settings.ENV.trusted_proxies)])
control_socket_disable = True  # its path is in $HOME, which a container with a read-only root filesystem can't write
worker_tmp_dir = "/dev/shm" if os.path.isdir("/dev/shm") else None  # noqa: S108 - gunicorn creates a private file there
# With several processes, metrics are shared in files, so that any process can serve `/metrics` for all. Set once,
# because this file is read again at each SIGHUP.
if workers > 1 and FIGURES not in os.environ:
    os.environ[FIGURES] = tempfile.mkdtemp(prefix="intents-ui-", dir=worker_tmp_dir)
loglevel = "warning"
logconfig_dict = settings.LOGGING  # one log format for gunicorn's lines, too
logger_class = "intents_ui.worker.Log"

# All processes of this start share a random key, also after a worker restarts.
if settings.ENV.embedded and settings.ENV.secret_key is None:
    os.environ["SECRET_KEY"] = settings.SECRET_KEY


lifecycle.trim_memory()


def post_worker_init(worker: Any) -> None:
    """Show the worker's shutdown to its streams, which have to end before gunicorn's own hook, because it waits."""
    lifecycle.attach(worker)


def child_exit(server: object, worker: Any) -> None:
    """Drop the gauges of a dead process. Its counters stay."""
    if FIGURES in os.environ:
        from prometheus_client import multiprocess

        multiprocess.mark_process_dead(worker.pid)


def on_exit(server: object) -> None:
    if FIGURES in os.environ:
        shutil.rmtree(os.environ[FIGURES], ignore_errors=True)


def when_ready(server: object) -> None:
    for network in settings.ENV.wide_proxies:
        logging.getLogger("intents_ui").warning(
            "TRUSTED_PROXIES: %s is so wide that clients are in it, who can then forge their address and lift every "
            "limit. List the proxies only.",
            network,
        )
    where = settings.ENV.authority.replace("0.0.0.0", "127.0.0.1").replace("[::]", "[::1]")  # noqa: S104 - only displayed
    source = getattr(settings.ENV.intents_service_url, "host", "demo data from the emulator")
    line = f"intents-ui is ready on http://{where} ({source}). Stop with Ctrl+C."
    if settings.ENV.log_format == "text":
        print(line, flush=True)
    else:
        logging.getLogger("intents_ui").info(line)
