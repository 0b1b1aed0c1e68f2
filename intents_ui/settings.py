"""Every setting of the dashboard, from the environment, with the sentence that documents it.

A bad value stops the start with one line that names the variable. The README's table is held to `Environment` by a test.
"""

import importlib.util
import ipaddress
import re
import secrets
import sys
from pathlib import Path
from typing import Annotated, Any, Literal, Self

from django.utils.csp import CSP
from pydantic import (
    DirectoryPath,
    Field,
    HttpUrl,
    IPvAnyNetwork,
    PositiveInt,
    RedisDsn,
    SecretStr,
    ValidationError,
    ValidationInfo,
    field_validator,
    model_validator,
)
from pydantic_settings import BaseSettings, NoDecode, SettingsConfigDict

from intents_ui.service.config import LIMITS, Group
from intents_ui.service.lifetimes import LIFETIMES, Kind, Lifetime

HOST_NAME = re.compile(r"[A-Za-z0-9]([A-Za-z0-9.-]{0,251}[A-Za-z0-9])?", re.ASCII)
# As Django takes it: a name, all names below one, an address, everything.
ALLOWED_HOST = re.compile(rf"\*|\.?{HOST_NAME.pattern}|\[[0-9a-fA-F:.]+\]", re.ASCII)
ORIGIN = re.compile(rf"https?://(\*\.)?({HOST_NAME.pattern}|\[[0-9a-fA-F:.]+\])(:[0-9]{{1,5}})?", re.ASCII)
CONTACT = re.compile(r"mailto:[!-~]+@[!-~]+|https://[!-~]+", re.ASCII)
SHORTEST_SECRET, LONGEST_SECRET = 16, 1000
# Secrets that may come from a file, as container platforms mount them: `NAME_FILE` instead of `NAME`.
SECRETS = ("intents_service_access_key", "intents_console_token", "secret_key")
# What a header can carry, without blanks around it, which it would lose on its way.
OF_A_HEADER = re.compile(r"[!-~]([ -~]*[!-~])?", re.ASCII)
# Options of a Redis URL that every client of ours takes; the time that Redis is given is ours to choose.
REDIS_OPTIONS = {"db", "protocol", "client_name", "health_check_interval", "socket_keepalive"}
REDISS_OPTIONS = {"ssl_cert_reqs", "ssl_ca_certs", "ssl_ca_path", "ssl_certfile", "ssl_keyfile", "ssl_check_hostname"}
# Its last label begins with a letter: no way to write an IP address has that.
LOGO_HOST = re.compile(
    r"([A-Za-z0-9]([A-Za-z0-9-]{0,61}[A-Za-z0-9])?\.){1,8}[A-Za-z][A-Za-z0-9-]{0,61}[A-Za-z0-9]", re.ASCII
)
# As `frame-ancestors` takes it: a host, or an https origin; a browser takes a bare host for those of its page's scheme.
EMBED_HOST = re.compile(rf"\*|(https://)?(\*\.)?{HOST_NAME.pattern}(:[0-9]{{1,5}})?", re.ASCII)
PACKAGES = {
    "otel_exporter_otlp_endpoint": "opentelemetry.exporter.otlp.proto.http.trace_exporter",
    "sentry_dsn": "sentry_sdk",
}
ROOT = Path(__file__).resolve().parent.parent
LOOPBACK_HOSTS = ["localhost", "127.0.0.1", "[::1]"]
LOOPBACK = ["127.0.0.0/8", "::1"]

Words = Annotated[list[str], NoDecode]
Networks = Annotated[list[IPvAnyNetwork], NoDecode]
Seconds = Annotated[dict[Group, Annotated[float, Field(gt=0, le=600)]], NoDecode]
Sizes = Annotated[dict[Group, PositiveInt], NoDecode]
Lifetimes = Annotated[dict[Kind, Lifetime], NoDecode]


SizeOf = Literal["line", "headers", "body", "console", "triage"]
SecondsOf = Literal["headers", "body", "next", "answer"]
RequestSizes = Annotated[dict[SizeOf, PositiveInt], NoDecode]
RequestSeconds = Annotated[dict[SecondsOf, Annotated[float, Field(gt=0, le=600)]], NoDecode]

# A search holds a whole message of 10,000 characters, each as three escaped bytes; a ticket 64,000.
REQUEST_SIZES: dict[SizeOf, int] = {
    "line": 100_000,
    "headers": 16_384,
    "body": 65_536,
    "console": 262_144,
    "triage": 655_360,
}
REQUEST_SECONDS: dict[SecondsOf, float] = {"headers": 10.0, "body": 10.0, "next": 15.0, "answer": 60.0}


def limits(name: str) -> dict[Group, Any]:
    """Return one of the limits of a call for every group of operations."""
    return {group: getattr(limits, name) for group, limits in LIMITS.items()}


class Environment(BaseSettings):
    """The environment variables that the dashboard reads: the field's name in capitals is the variable's name."""

    model_config = SettingsConfigDict(env_ignore_empty=True, hide_input_in_errors=True)

    # fmt: off
    intents_service_url: HttpUrl | Literal["embedded"] | None = Field(None, description="base URL of the intent service; unset (loopback only) or `embedded`: the embedded one, with invented transfers")
    intents_service_access_key: SecretStr | None = Field(None, description="sent to the service as `X-Access-Key`; never leaves the server")
    intents_service_access_key_file: Path | None = Field(None, description="file that holds `INTENTS_SERVICE_ACCESS_KEY`, instead of it")
    intents_service_http: Literal["loopback", "allowed"] = Field("loopback", description="where the service may be asked without https: on `loopback` alone, or wherever `INTENTS_SERVICE_URL` says (`allowed`), for a network on which nobody listens")
    intents_service_name: str = Field("Service", pattern=r"^[A-Za-z0-9_-][A-Za-z0-9_.-]*$", description="the path segment after `/rpc/`")
    intents_service_brand: str = Field("service", pattern=r"^[a-z][a-z0-9]*$", description="prefix of brand-specific field names in the service's API, `service` in docs/contract.md")
    intents_wallet_brand: str = Field("smart", pattern=r"^[a-z][a-z0-9]*$", description="the word before `Wallet…` in `serviceAddressOverrides`")
    intents_embedded_tokens: int = Field(0, ge=0, le=20_000, description="tokens that the embedded service lists at least, filled up with invented ones, for trying out long lists")
    intents_service_connections: int = Field(48, ge=1, le=500, description="connections to the service that the pages share")
    intents_service_connection_wait: float = Field(0.5, gt=0, le=10, description="seconds that a question waits for a free connection")
    intents_waiting: int = Field(40, ge=1, le=63, description="pages, of the 64 that are made at a time, that may wait for the service; the rest serve what needs no answer of it")
    intents_balance_wait: float = Field(0.3, ge=0, le=5, description="seconds that a transfer's page waits for its on-chain balances before it shows them as pending; 0: it doesn't wait")
    intents_page_seconds: float = Field(8.0, gt=0, le=60, description="seconds for all questions of one page together")
    intents_service_connects: Seconds = Field(limits("connect"), description="seconds to connect to the service, by group of operations")
    intents_service_reads: Seconds = Field(limits("read"), description="seconds between two pieces of an answer, by group")
    intents_service_totals: Seconds = Field(limits("total"), description="seconds for a whole call, by group")
    intents_service_sizes: Sizes = Field(limits("size"), description="most bytes of an answer, after decompression too, by group")
    intents_service_kept: Lifetimes = Field(dict(LIFETIMES), description="by kind of answer, seconds of age up to which it is as good as new / is shown while it is renewed / is shown as old when the service fails; `0`: asked for each time")
    intents_index: Literal["noindex", "index"] = Field("noindex", description="whether search engines may list the pages of intents and addresses: `noindex`, `index`")
    intents_security_contact: str | None = Field(None, description="where weaknesses of this dashboard are reported (`mailto:…`, `https://…`), for `/.well-known/security.txt`; unset: there is none")
    redis_url: RedisDsn | None = Field(None, description="joins several processes and hosts: each watched intent is asked for by one of them, what one has learned from the service the others need not ask for (answers lie there for an hour at the most), each knows how far an export has come and what a visitor has spent; no cluster")
    intents_streams: int = Field(2500, ge=0, description="live streams at a time in one process; whoever comes later polls")
    intents_streams_per_address: int = Field(20, ge=1, description="live streams at a time for one visitor's address (IPv6: for one /64)")
    intents_watched: int = Field(500, ge=1, description="intents at a time that one process watches for them")
    intents_exports: int = Field(4, ge=1, le=32, description="exports at a time in one process; whoever comes later is asked to try again")
    intents_export_rows: int = Field(10_000, ge=1, le=100_000, description="rows of an export at the most; its last line says whether there are more")
    intents_logo_hosts: Words = Field([], description="comma-separated names of hosts whose logos of listed tokens and chains are fetched by us, checked, drawn anew and shown; unset: pictures of our own alone")
    intents_embed_hosts: Words = Field([], description="comma-separated hosts or https origins (`https://shop.example`, `*.shop.example`) whose pages may show an intent in a frame (`/embed/intent/…`); `*`: everybody's; unset: nobody's")
    intents_console: Literal["off", "read", "write"] | None = Field(None, description="what visitors may ask of the service by hand: `off`, `read` (operations that change nothing), `write` (quote, commit and execute too); unset: `write` with the embedded service, `off` with a real one")
    intents_console_token: SecretStr | None = Field(None, description="the operator's token, at least 16 characters, asked of whoever writes; `write` with a real service needs one")
    intents_console_token_file: Path | None = Field(None, description="file that holds `INTENTS_CONSOLE_TOKEN`, instead of it")
    intents_console_reads: int = Field(60, ge=1, description="reading operations a minute that one visitor's address (IPv6: one /64) may call by hand")
    intents_console_writes: int = Field(10, ge=1, description="quotes, commits and executions a minute by one visitor's address")
    intents_requests: int = Field(64, ge=1, description="requests that one process answers at a time, beside streams; whoever comes then is asked to try again in two seconds")
    intents_request_sizes: RequestSizes = Field(REQUEST_SIZES, description="most bytes of a request: its line (address and filters), its headers together, its body; bodies of the console and of commits, and of triage, have limits of their own")
    intents_request_seconds: RequestSeconds = Field(REQUEST_SECONDS, description="seconds for a request's headers to arrive, for its body, for a connection to wait for the next request, for a reader to take the next piece of an answer")
    intents_pages_per_address: int = Field(20, ge=1, description="pages, and parts of pages, a second on average that one visitor's address (IPv6: one /64) may ask for; eight times as many at once")
    intents_searches_per_address: int = Field(120, ge=1, description="searches, tickets and exports a minute by one visitor's address")
    intents_calls_per_address: int = Field(2400, ge=1, description="calls to the service a minute that the tickets of one visitor's address may cost; an identifier costs about six")
    intents_metrics: Networks = Field(LOOPBACK, validate_default=True, description="comma-separated addresses and networks that may read `/metrics`; a proxy that passes others on must be named in `TRUSTED_PROXIES`")
    state_dir: DirectoryPath | None = Field(None, description="directory in which the lists of chains and tokens are kept across restarts, so that names are known while the service is away; unset: in memory only")
    secret_key: SecretStr | None = Field(None, description="signs what must come back unchanged; unset with the embedded service: one drawn at each start; unset or shorter than 16 characters with a real service: the start stops")
    secret_key_file: Path | None = Field(None, description="file that holds `SECRET_KEY`, instead of it")
    debug: bool = Field(False, description="Django's debug mode, for work on the dashboard itself: with the embedded service and on loopback alone")
    allowed_hosts: Words = Field(LOOPBACK_HOSTS, description="comma-separated host names under which the dashboard answers")
    intents_https: Literal["off", "on"] = Field("off", description="`on`: readers reach the dashboard by https alone, through a proxy that ends it and passes `X-Forwarded-Proto` on; browsers are told so for two years (for names below this host's too), requests by http are sent to https, cookies go over https alone")
    csrf_trusted_origins: Words = Field([], description="comma-separated origins (`https://intents.example`) under which readers reach the dashboard, where a proxy in front ends https: forms sent from there count as our own, and their ports may stand in links")
    trusted_proxies: Networks = Field([], description="comma-separated addresses and networks of our own proxies, whose `X-Forwarded-For` says who visits")
    host: str = Field("127.0.0.1", description="address to listen on; beyond loopback the service must be named, if only as `embedded`")
    port: int = Field(8000, ge=1, le=65535, description="port to listen on")
    web_concurrency: int = Field(1, ge=1, le=64, description="worker processes; more than one needs a service of its own")
    otel_exporter_otlp_endpoint: HttpUrl | None = Field(None, description="OpenTelemetry collector (OTLP over HTTP) that is sent a trace of each request and its calls; needs what `requirements-telemetry.txt` holds")
    sentry_dsn: SecretStr | None = Field(None, description="where Sentry is told of what is logged as an error; needs the same")
    log_format: Literal["text", "json"] = Field("text", description="`text` for people, `json` for one JSON object a line")
    # fmt: on

    @field_validator(
        "allowed_hosts",
        "csrf_trusted_origins",
        "trusted_proxies",
        "intents_metrics",
        "intents_logo_hosts",
        "intents_embed_hosts",
        mode="before",
    )
    @classmethod
    def split(cls, value: Any) -> Any:
        return [word.strip() for word in value.split(",") if word.strip()] if isinstance(value, str) else value

    @field_validator("intents_service_url")
    @classmethod
    def of_a_place_alone(cls, value: Any) -> Any:
        """What else a URL can hold may be secret, and would stand in logs."""
        if isinstance(value, HttpUrl) and not (
            value.username is value.password is value.query is value.fragment is None
        ):
            raise ValueError(
                "must not contain credentials, a query or a fragment. Put the key in INTENTS_SERVICE_ACCESS_KEY."
            )
        return value

    @model_validator(mode="before")
    @classmethod
    def of_files(cls, given: dict[str, Any]) -> dict[str, Any]:
        """The secrets, where they stand in files, put in their places."""
        return {**given, **{name: _in_file(name, given) for name in SECRETS if given.get(f"{name}_file")}}

    @field_validator(*SECRETS, mode="before")
    @classmethod
    def without_line_end(cls, value: Any) -> Any:
        """Editors and mounted secrets end with one, which is no part of the secret."""
        return value.rstrip("\r\n") if isinstance(value, str) else value

    @field_validator(*SECRETS)
    @classmethod
    def of_a_header(cls, value: SecretStr | None) -> SecretStr | None:
        if value is not None and not OF_A_HEADER.fullmatch(value.get_secret_value()):
            raise ValueError("must be printable ASCII on one line, without surrounding spaces")
        return value

    @field_validator("redis_url")
    @classmethod
    def of_known_options(cls, value: Any) -> Any:
        if value is None:
            return value
        known = REDIS_OPTIONS | (REDISS_OPTIONS if value.scheme == "rediss" else set())
        if unknown := {name for name, _ in value.query_params()} - known:
            raise ValueError(f"must have no options other than {', '.join(sorted(known))}, not {min(unknown)[:40]!r}")
        from redis.connection import parse_url  # where it is set alone: it is large

        parse_url(str(value))  # type: ignore[no-untyped-call]
        return value

    @field_validator("allowed_hosts")
    @classmethod
    def of_hosts(cls, value: list[str]) -> list[str]:
        if not all(ALLOWED_HOST.fullmatch(host) for host in value):
            raise ValueError(
                "must be host names without scheme or port (intents.example, or .example for all subdomains)"
            )
        return value

    @field_validator("csrf_trusted_origins")
    @classmethod
    def of_origins(cls, value: list[str]) -> list[str]:
        if not all(ORIGIN.fullmatch(origin) for origin in value):
            raise ValueError("must be a list of origins, for example https://intents.example")
        return value

    @field_validator("intents_console_token")
    @classmethod
    def of_some_length(cls, value: SecretStr | None) -> SecretStr | None:
        if value is not None and not SHORTEST_SECRET <= len(value.get_secret_value()) <= LONGEST_SECRET:
            raise ValueError(f"must be {SHORTEST_SECRET} to {LONGEST_SECRET} characters long")
        return value

    @field_validator("intents_security_contact")
    @classmethod
    def of_a_contact(cls, value: str | None) -> str | None:
        if value is not None and not CONTACT.fullmatch(value):
            raise ValueError("must be a mailto: or https: URI, for example mailto:security@intents.example")
        return value

    @field_validator("host")
    @classmethod
    def of_one_interface(cls, value: str) -> str:
        """Accept an IPv6 address with or without brackets."""
        host = value.removeprefix("[").removesuffix("]")
        if not (is_address(host) or HOST_NAME.fullmatch(host)):
            raise ValueError("must be an IP address or host name. Set the port with PORT.")
        return host

    @field_validator("intents_logo_hosts")
    @classmethod
    def of_names(cls, value: list[str]) -> list[str]:
        """Accept no IP addresses: each name is resolved and checked at every download."""
        if not all(LOGO_HOST.fullmatch(host) for host in value):
            raise ValueError("must be fully qualified host names without scheme, port or path")
        return [host.lower() for host in value]

    @field_validator("intents_embed_hosts")
    @classmethod
    def of_frames(cls, value: list[str]) -> list[str]:
        if not all(EMBED_HOST.fullmatch(host) for host in value):
            raise ValueError("must be host names, https origins (https://shop.example), or `*` for any site")
        return value

    @field_validator(
        "intents_service_connects",
        "intents_service_reads",
        "intents_service_totals",
        "intents_service_sizes",
        "intents_request_sizes",
        "intents_request_seconds",
        mode="before",
    )
    @classmethod
    def of_some_groups(cls, value: Any, info: ValidationInfo) -> Any:
        """`search=5,tokens=3`: the groups named, the others as they are."""
        if not isinstance(value, str):
            return value
        pairs = (pair.partition("=") for pair in value.split(","))
        given = {group.strip(): number for group, _, number in pairs}
        return cls.model_fields[str(info.field_name)].default | given

    @field_validator("intents_service_kept", mode="before")
    @classmethod
    def of_some_kinds(cls, value: Any) -> Any:
        """`moving=2/10/3600`: the kinds named, the others as they are."""
        if not isinstance(value, str):
            return value
        pairs = (pair.partition("=") for pair in value.split(","))
        return {**LIFETIMES, **{kind.strip(): Lifetime.read(ages) for kind, _, ages in pairs}}

    @property
    def authority(self) -> str:
        """Host and port as they stand in a URL."""
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"

    @property
    def embedded(self) -> bool:
        """Whether the dashboard answers its own questions, from the embedded service."""
        return self.intents_service_url in (None, "embedded")

    @property
    def console(self) -> Literal["off", "read", "write"]:
        """What clients can do in the console; demo data needs no protection."""
        return self.intents_console or ("write" if self.embedded else "off")

    @property
    def is_overheard(self) -> bool:
        """Whether requests to the real service leave this machine without HTTPS."""
        url = self.intents_service_url
        return isinstance(url, HttpUrl) and url.scheme == "http" and not is_loopback((url.host or "").strip("[]"))

    @property
    def service_host(self) -> str | None:
        """Host of the real service, for the startup message."""
        return self.intents_service_url.host if isinstance(self.intents_service_url, HttpUrl) else None

    @field_validator("otel_exporter_otlp_endpoint", "sentry_dsn")
    @classmethod
    def of_what_is_installed(cls, value: Any, info: ValidationInfo) -> Any:
        if value is not None and not is_installed(PACKAGES[str(info.field_name)]):
            raise ValueError("requires packages that are not installed: pip install -r requirements-telemetry.txt")
        return value

    @model_validator(mode="after")
    def refuse_what_would_mislead(self) -> Self:
        if not self.embedded and self.secret_key is None:
            raise ValueError("SECRET_KEY: required with a real service (INTENTS_SERVICE_URL)")
        if not self.embedded and self.secret_key and len(self.secret_key.get_secret_value()) < SHORTEST_SECRET:
            raise ValueError(f"SECRET_KEY: must be at least {SHORTEST_SECRET} characters long with a real service")
        if self.is_overheard and self.intents_service_http != "allowed":
            raise ValueError(
                "INTENTS_SERVICE_URL: must use https beyond loopback, because http exposes the access key"
                " (INTENTS_SERVICE_HTTP=allowed permits it on a private network)"
            )
        if not self.embedded and self.intents_console == "write" and self.intents_console_token is None:
            raise ValueError("INTENTS_CONSOLE_TOKEN: required with INTENTS_CONSOLE=write and a real service")
        if self.intents_service_url is None and not is_loopback(self.host):
            raise ValueError(
                f"INTENTS_SERVICE_URL: required when HOST ({self.host}) is not loopback."
                " Use `embedded` to serve demo data publicly."
            )
        if self.debug and not (self.embedded and is_loopback(self.host)):
            raise ValueError("DEBUG: requires the emulator and a loopback HOST")
        if self.embedded and self.web_concurrency > 1:
            raise ValueError("WEB_CONCURRENCY: must be 1 with the emulator")
        return self


def _in_file(name: str, given: dict[str, Any]) -> str:
    setting = name.upper()
    if given.get(name):
        raise ValueError(f"{setting}: set, and so is {setting}_FILE. Set one of them.")
    try:
        with Path(given[f"{name}_file"]).open(encoding="utf-8") as file:
            held = file.read(LONGEST_SECRET * 4)
    except (OSError, ValueError) as error:
        raise ValueError(f"{setting}_FILE: can't be read ({type(error).__name__})") from None
    if not held.strip():
        raise ValueError(f"{setting}_FILE: empty")
    return held


def is_installed(module: str) -> bool:
    try:
        return importlib.util.find_spec(module) is not None
    except ModuleNotFoundError:  # nor is its parent package
        return False


def is_loopback(host: str) -> bool:
    return host == "localhost" or (is_address(host) and ipaddress.ip_address(host).is_loopback)


def is_address(host: str) -> bool:
    try:
        ipaddress.ip_address(host)
    except ValueError:
        return False
    return True


def read_environment() -> Environment:
    try:
        return Environment()
    except ValidationError as error:
        first = error.errors()[0]
        name = str(first["loc"][0]).upper() + ": " if first["loc"] else ""
        sys.exit(f"{name}{first['msg'].removeprefix('Value error, ')}")


ENV = read_environment()

DEBUG = ENV.debug
DEFAULT_EXCEPTION_REPORTER_FILTER = "intents_ui.debugging.NoSettings"
# With the emulator nothing outlives the process, so a random key per start is enough.
SECRET_KEY = ENV.secret_key.get_secret_value() if ENV.secret_key else secrets.token_urlsafe(50)
ALLOWED_HOSTS = ENV.allowed_hosts

# Checked and set by the pages with forms that write (`operators.guarded`), which make its cookie Secure over https.
CSRF_TRUSTED_ORIGINS = ENV.csrf_trusted_origins
CSRF_COOKIE_AGE = None  # until the browser is closed
CSRF_COOKIE_HTTPONLY = True
CSRF_FAILURE_VIEW = "intents_ui.pages.failures.unproven_form"

INSTALLED_APPS = ["intents_ui", "django_htmx", "django.contrib.staticfiles"]
MIDDLEWARE = [
    "intents_ui.visits.named",
    "django.middleware.csp.ContentSecurityPolicyMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "intents_ui.headers.told_to_browsers",
    "django.middleware.security.SecurityMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "intents_ui.compression.compressed",
    "django.middleware.http.ConditionalGetMiddleware",
    "django_htmx.middleware.HtmxMiddleware",
    "intents_ui.pages.site.files_unlisted",
    "intents_ui.inbound.limits",
    "intents_ui.pages.troubles.troubles",
    "intents_ui.pages.failures.FailurePages",
    "django.middleware.common.CommonMiddleware",
]
ROOT_URLCONF = "intents_ui.urls"
APPEND_SLASH = False
WSGI_APPLICATION = None
DATABASES: dict[str, Any] = {}
# How far exports have come, what visitors have spent. JSON, because whoever can write to a cache of pickles can run anything here.
SHARED_CACHE = {
    "BACKEND": "django.core.cache.backends.redis.RedisCache",
    "LOCATION": str(ENV.redis_url),
    "KEY_PREFIX": "intents-ui",
    "OPTIONS": {
        "serializer": "django.core.signing.JSONSerializer",
        "socket_timeout": 1,
        "socket_connect_timeout": 1,
    },
}
OWN_CACHE = {"BACKEND": "django.core.cache.backends.locmem.LocMemCache", "OPTIONS": {"MAX_ENTRIES": 20_000}}
# "own": where a visitor's spending is counted while the shared one is away.
CACHES = {"default": SHARED_CACHE if ENV.redis_url else OWN_CACHE, "own": OWN_CACHE}
TEMPLATES = [
    {
        "BACKEND": "django.template.backends.jinja2.Jinja2",
        "DIRS": [ROOT / "templates"],
        "OPTIONS": {
            "environment": "intents_ui.jinja.environment",
            "context_processors": ["intents_ui.pages.frame.frame"],
        },
    }
]

TIME_ZONE = "UTC"
USE_TZ = True
USE_I18N = False

# No form of ours has as many, and no filter.
DATA_UPLOAD_MAX_NUMBER_FIELDS = 200
DATA_UPLOAD_MAX_NUMBER_FILES = 1

STATIC_URL = "/static/"
STATIC_ROOT = ROOT / ".static"
STATICFILES_DIRS = [ROOT / "static"]
# Collected at the image's build: hashed names, compressed, kept by browsers for a year. From a checkout: the files as they are.
COLLECTED = (STATIC_ROOT / "staticfiles.json").exists() and not DEBUG
STORAGES = {
    "staticfiles": {
        "BACKEND": "intents_ui.assets.SlimStorage"
        if COLLECTED or "collectstatic" in sys.argv
        else "django.contrib.staticfiles.storage.StaticFilesStorage"
    }
}
WHITENOISE_USE_FINDERS = not COLLECTED
WHITENOISE_AUTOREFRESH = not COLLECTED
WHITENOISE_ALLOW_ALL_ORIGINS = False

# What a page may do; headers.py has the rest. Scripts by their origin alone: with `strict-dynamic` or a nonce htmx would
# run what a fragment holds. static/js/trusted.js makes the one policy by which text may become HTML.
SECURE_CSP = {
    "default-src": [CSP.NONE],
    "script-src": [CSP.SELF],
    "style-src": [CSP.SELF],
    "img-src": [CSP.SELF],
    "font-src": [CSP.SELF],
    "connect-src": [CSP.SELF],
    "manifest-src": [CSP.SELF],
    "form-action": [CSP.SELF],
    "object-src": [CSP.NONE],
    "base-uri": [CSP.NONE],
    "frame-ancestors": [CSP.NONE],
    "require-trusted-types-for": ["'script'"],
    "trusted-types": ["default"],
    "report-to": ["csp"],
    "report-uri": ["/csp-report"],
}
X_FRAME_OPTIONS = "DENY"
SECURE_REFERRER_POLICY = "strict-origin-when-cross-origin"

# Where a proxy in front ends https. Its `X-Forwarded-Proto` is believed if it is one of ours (gunicorn.conf.py).
BY_HTTPS = ENV.intents_https == "on"
SECURE_SSL_REDIRECT = BY_HTTPS
SECURE_HSTS_SECONDS = 63_072_000 if BY_HTTPS else 0
SECURE_HSTS_INCLUDE_SUBDOMAINS = True
SECURE_HSTS_PRELOAD = True
CSRF_COOKIE_SECURE = BY_HTTPS
CSRF_COOKIE_NAME = "__Host-csrftoken" if BY_HTTPS else "csrftoken"
# Its middleware would set a cookie on pages that change nothing: what takes POST asks `operators.guarded`, or, where
# nothing is changed, `visitors.is_ours`. A test asks every address.
SILENCED_SYSTEM_CHECKS = ["security.W003"]

LOGGING = {
    "version": 1,
    "disable_existing_loggers": False,
    "formatters": {
        "text": {"()": "intents_ui.logs.TextLines", "fmt": "{asctime} {levelname} {name}: {message}", "style": "{"},
        "json": {"()": "intents_ui.logs.JsonLines"},
    },
    "filters": {"refused_requests": {"()": "intents_ui.logs.RefusedRequests"}},
    "handlers": {
        "console": {
            "class": "logging.StreamHandler",
            "formatter": ENV.log_format,
            "filters": ["refused_requests"],
        }
    },
    # A page that is not there and each question to the service are ordinary events; errors are logged with their reference.
    "loggers": {
        "django.request": {"level": "CRITICAL"},
        "gunicorn.error": {"level": "WARNING", "handlers": [], "propagate": True},
        # On a lower level they tell the headers, and with them the access key.
        "httpcore": {"level": "WARNING"},
        "httpx": {"level": "WARNING"},
    },
    "root": {"handlers": ["console"], "level": "INFO"},
}
