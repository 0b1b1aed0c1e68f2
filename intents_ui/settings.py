"""Settings of the dashboard, read from the environment, with their descriptions.

An invalid value aborts startup with one line that names the variable. A test checks docs/settings.md against `Environment`.
"""

import difflib
import hmac
import ipaddress
import os
import re
import secrets
import sys
import warnings
from collections.abc import Callable
from functools import cached_property
from pathlib import Path
from typing import Annotated, Any, Literal, Self

from django.apps import apps
from django.utils.csp import CSP
from pydantic import (
    BeforeValidator,
    Field,
    HttpUrl,
    IPvAnyNetwork,
    RedisDsn,
    SecretStr,
    ValidationError,
    ValidationInfo,
    field_validator,
    model_validator,
)
from pydantic_settings import BaseSettings, NoDecode, SettingsConfigDict, SettingsError

from intents_ui import installation
from intents_ui.http import api_access
from intents_ui.mirror import database

SHORTEST_SECRET, LONGEST_SECRET = 16, 1000
REDIS_SECONDS = 0.5  # that a page waits for Redis, once in some seconds while it doesn't answer
WIDE = {4: 10, 6: 24}  # prefixes of networks by IP version
SECRETS_DIR = Path("/run/secrets")  # where container platforms mount secrets
# Options of a Redis URL that all of our clients accept. Timeouts aren't configurable.
REDIS_OPTIONS = {"db", "protocol", "client_name", "health_check_interval", "socket_keepalive"}
REDISS_OPTIONS = {"ssl_cert_reqs", "ssl_ca_certs", "ssl_ca_path", "ssl_certfile", "ssl_keyfile", "ssl_check_hostname"}
LOOPBACK_HOSTS = ["localhost", "127.0.0.1", "[::1]"]
LOOPBACK = ["127.0.0.0/8", "::1"]
# Not link-local addresses, at which clouds have their metadata service.
PRIVATE = [ipaddress.ip_network(each) for each in ("10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "fc00::/7")]

HOST_NAME = r"[A-Za-z0-9]([A-Za-z0-9.-]{0,251}[A-Za-z0-9])?"
IP_LITERAL = r"\[[0-9a-fA-F:.]+\]"
PORT_PART = r"(:[0-9]{1,5})?"
MAIL = rf"[A-Za-z0-9._+-]{{1,64}}@{HOST_NAME}"
# Shown as a link on pages and in text that is copied into other programs, so it has no character that ends one.
LINK_CHARACTER = r"[A-Za-z0-9._~:/?#@!$&*+,;=%-]"
LINK = rf"https://{HOST_NAME}{PORT_PART}([/?#]{LINK_CHARACTER}*)?"
ESCALATION_LINK = rf"https://{HOST_NAME}{PORT_PART}([/?#]({LINK_CHARACTER}|\{{(intentId|subject|text)\}})*)?"
# The last label begins with a letter, which excludes every notation of an IP address.
FULL_HOST = r"([A-Za-z0-9]([A-Za-z0-9-]{0,61}[A-Za-z0-9])?\.){1,8}[A-Za-z][A-Za-z0-9-]{0,61}[A-Za-z0-9]"
# Text of any language in any number of lines, without control characters and those that reorder the text.
MESSAGE = r"[^\x00-\x09\x0b-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069\ud800-\udfff]+"
# HTTP headers can carry it.
SECRET = (r"[ -~]+", "must be printable ASCII on one line")
LONG_SECRET = (
    rf"[ -~]{{{SHORTEST_SECRET},{LONGEST_SECRET}}}",
    f"must be {SHORTEST_SECRET} to {LONGEST_SECRET} characters of printable ASCII on one line",
)
# By setting, the pattern of its value, or of each of several, and the error otherwise.
# fmt: off
PATTERNS = {
    "intents_service_access_key": SECRET,
    "secret_key": SECRET,
    "intents_slack_bot_token": SECRET,
    "intents_slack_signing_secret": LONG_SECRET,
    "intents_console_token": LONG_SECRET,
    # As in Django: a name, ".name" for all its subdomains, an address, or "*".
    "allowed_hosts": (rf"\*|\.?{HOST_NAME}|{IP_LITERAL}", "must be host names without scheme or port (intents.example, or .example for all subdomains)"),
    "csrf_trusted_origins": (rf"https?://(\*\.)?({HOST_NAME}|{IP_LITERAL}){PORT_PART}", "must be a list of origins, for example https://intents.example"),
    "intents_api_origins": (rf"\*|https?://({HOST_NAME}|{IP_LITERAL}){PORT_PART}", "must be a list of origins, for example https://desk.example, or `*` for any site"),
    # As in `frame-ancestors`: a host or an HTTPS origin. Browsers match a bare host with the page's own scheme.
    "intents_embed_hosts": (rf"\*|(https://)?(\*\.)?{HOST_NAME}{PORT_PART}", "must be host names, https origins (https://shop.example), or `*` for any site"),
    "intents_logo_hosts": (FULL_HOST, "must be fully qualified host names without scheme, port or path"),
    "intents_security_contact": (r"mailto:[!-~]+@[!-~]+|https://[!-~]+", "must be a mailto: or https: URI, for example mailto:security@intents.example"),
    "intents_recovery_url": (LINK, "must be an https URL, for example https://app.example/recover"),
    "intents_support_contact": (f"{LINK}|{MAIL}", "must be an https URL or an e-mail address, for example support@app.example"),
    "intents_reply_greeting": (MESSAGE, "must be text without control characters"),
    "intents_reply_signature": (MESSAGE, "must be text without control characters, with \\n for line breaks"),
    "intents_escalation_to": (f"{ESCALATION_LINK}|{MAIL}", "must be an e-mail address or an https URL, for example https://desk.example/new?body={text}"),
}
# fmt: on
# The same for values that are parsed, which raises a ValueError.
PARSERS: dict[str, Callable[[str], object]] = {
    "intents_database": database.of_url,
    "intents_api_tokens": api_access.parse,
}


def split(value: Any) -> Any:
    """Return the parts of a comma-separated text, with hosts and origins as browsers write them."""
    if not isinstance(value, str):
        return value
    parts = [part.strip().lower() for part in value.split(",") if part.strip()]
    return [re.sub(r"^(https://.*):443$", r"\1", part) for part in parts]


def as_lines(value: Any) -> Any:
    """Return a text with its `\\n` as line breaks, which many environment files can't contain."""
    return value.replace("\\n", "\n").replace("\r\n", "\n") if isinstance(value, str) else value


Lines = Annotated[str, BeforeValidator(as_lines)]
Words = Annotated[list[str], NoDecode, BeforeValidator(split)]
Networks = Annotated[list[IPvAnyNetwork], NoDecode, BeforeValidator(split)]


class Environment(BaseSettings):
    """Environment variables, or files in SECRETS_DIR. Each is named like its field, in capitals."""

    # Strips the line end that editors and mounted secrets add.
    model_config = SettingsConfigDict(env_ignore_empty=True, hide_input_in_errors=True, str_strip_whitespace=True)

    # fmt: off
    intents_service_url: HttpUrl | Literal["embedded"] | None = Field(None, description="Base URL of the service, to show its transfers: https, or http to this machine, a private address or a host name without a dot. Unset (loopback only) or `embedded`: the built-in emulator with demo data.")
    intents_service_access_key: SecretStr | None = Field(None, description="Access key, if the service requires one. Sent to the service as `X-Access-Key`, and nowhere else.")
    intents_service_name: str = Field("Service", pattern=r"^[A-Za-z0-9_-][A-Za-z0-9_.-]*$", description="Path segment after `/rpc/`, if the service has another one")
    intents_service_brand: str = Field("service", pattern=r"^[a-z][a-z0-9]*$", description="Prefix of brand-specific field names in the service's API (`service` in docs/contract.md), if it has another one")
    intents_wallet_brand: str = Field("smart", pattern=r"^[a-z][a-z0-9]*$", description="Prefix of `Wallet…` in the field names of `serviceAddressOverrides`, if the service has another one")
    host: str = Field("127.0.0.1", description="Address to listen on, if clients or the proxy are on other machines. Beyond loopback, `INTENTS_SERVICE_URL` is required.")
    port: int = Field(8000, ge=1, le=65535, description="Port to listen on. Each process of a host needs its own.")
    web_concurrency: int = Field(1, ge=1, le=64, description="Worker processes, to use several cores without a process manager. More than one requires a real service.")
    allowed_hosts: Words = Field(LOOPBACK_HOSTS, description="Host names under which clients reach the dashboard (comma-separated). Others are rejected.")
    intents_https: Literal["off", "on"] = Field("off", description="`on` behind a proxy that terminates TLS and sets `X-Forwarded-Proto`: HSTS (2 years, including subdomains), HTTPS redirects and Secure cookies")
    csrf_trusted_origins: Words = Field([], description="Public origins of the dashboard behind a TLS-terminating proxy (comma-separated: `https://intents.example:8443`), if the proxy has a port of its own. Their forms are trusted.")
    trusted_proxies: Networks = Field([], description="Addresses and networks of your proxies (comma-separated), so that limits apply to their clients: trusted for `X-Forwarded-For` and `X-Forwarded-Proto`")
    secret_key: SecretStr | None = Field(None, description="Key for signing cookies and values in Redis, at least 16 characters, the same in each process. Required with a real service. Generated at startup with the emulator.")
    debug: bool = Field(False, description="Django's debug mode, for development. Requires the emulator and a loopback `HOST`.")
    redis_url: RedisDsn | None = Field(None, description="Redis, so that several processes and hosts share live updates, cached responses (for an hour at most), rate limits and export progress. Redis Cluster is not supported.")
    intents_database: SecretStr | None = Field(None, description="Database of the [mirror](mirror.md), for figures and incidents with a real service: a path or `sqlite:///path`, or `postgres://user:password@host/name`. Unset: no mirror, or with the emulator a file in the checkout's `.demo` folder, or the cache folder of a wheel.")
    intents_insight: Literal["public", "staff", "off"] = Field("public", description="Who sees what the [mirror](mirror.md) knows, from [figures](mirror.md#what-each-figure-means) to transfers by recipient, if that isn't for everyone: anyone (`public`), support and operators, who [sign in](access.md#sign-in) or have the operator token (`staff`), or no one (`off`)")
    intents_mirror_calls: int = Field(5, ge=1, le=100, description="Maximum service calls per second of the mirror. Raise it to copy a long history faster, lower it to spare the service.")
    intents_index: Literal["noindex", "index"] = Field("noindex", description="`index`: search engines may index pages of intents and addresses, so that owners find them there. `noindex`: they may not.")
    intents_security_contact: str | None = Field(None, description="Where researchers report vulnerabilities (`mailto:` or `https:`), published in `/.well-known/security.txt`. Unset: no such file.")
    intents_recovery_url: str | None = Field(None, description="https URL at which owners recover funds, linked from next steps that say to do so. Unset: they name the app that started the transfer.")
    intents_support_contact: str | None = Field(None, description="Your support (https URL or e-mail address), linked from next steps that say to contact it. Unset: they name the app that started the transfer.")
    intents_reply_greeting: Lines | None = Field(None, description="First line of customer replies, for example `Hi,`. Unset: none, for helpdesks that add their own.")
    intents_reply_signature: Lines | None = Field(None, description="Signature of customer replies, `\\n` between its lines. Unset: none.")
    intents_escalation_to: str | None = Field(None, description="Where support sends escalations with a click: an e-mail address, or an https URL in which `{intentId}`, `{subject}` and `{text}` are replaced. Unset: they can only be copied.")
    intents_logo_hosts: Words = Field([], description="Hosts from which browsers load listed logos of tokens and chains without a bundled icon (comma-separated), to show more than initials. They learn the IP addresses of your users.")
    intents_embed_hosts: Words = Field([], description="Hosts or https origins (comma-separated: `https://shop.example`, `*.shop.example`) whose pages may frame `/embed/…`: the card of a transfer, and the side bar of [helpdesks](integrations.md#helpdesks). `*`: any site. Unset: none.")
    intents_max_export_rows: int = Field(10_000, ge=1, le=100_000, description="Maximum rows per export, if reports need more, or the service should be spared. The last line says whether there are more.")
    intents_console: Literal["off", "read", "write"] | None = Field(None, description="Operations in the console, in which people send calls to the service: none (`off`), those that read (`read`), or also quote, commit and execute (`write`). Unset: `write` with the emulator, `off` otherwise.")
    intents_console_token: SecretStr | None = Field(None, description="Operator token for `write` and for `INTENTS_INSIGHT=staff`, at least 16 characters. Required for `write` with a real service, unless operators [sign in](access.md#sign-in).")
    intents_user_header: str | None = Field(None, pattern=r"^[A-Za-z0-9-]{1,60}$", description="Header in which your proxy names who is [signed in](access.md#sign-in), for example `X-Forwarded-User`. Requires `TRUSTED_PROXIES`. Unset: only the operator token tells staff from others.")
    intents_groups_header: str | None = Field(None, pattern=r"^[A-Za-z0-9-]{1,60}$", description="Header in which your proxy names the groups of who is signed in (comma-separated), for example `X-Forwarded-Groups`. Unset: everyone who is signed in is support.")
    intents_support_groups: Words = Field([], description="Groups (comma-separated) whose members are support: they see what `INTENTS_INSIGHT=staff` shows, and read in the console.")
    intents_operator_groups: Words = Field([], description="Groups (comma-separated) whose members are operators: support that may also write in the console, without the operator token.")
    intents_api: Literal["public", "off"] = Field("public", description="Who may use the [API](api.md) and [MCP](integrations.md#mcp): anyone (`public`), or no one (`off`) if only people should")
    intents_api_tokens: SecretStr | None = Field(None, description="Tokens for clients of the API that need other limits (`name:sha256:limit`, comma-separated or one per line): the token's hash, and its pages per minute. They replace the limit per client IP.")
    intents_api_origins: Words = Field([], description="Origins (comma-separated: `https://desk.example`) whose pages may read the API in a browser (CORS). `*`: any site. Unset: none.")
    intents_rate_pages: int = Field(20, ge=1, description="Pages per second per client (IPv4 address or IPv6 /48), with bursts of two minutes' worth. A search, an export or an identifier in a ticket counts as 6 pages. Raise it if many users share an address.")
    intents_slack_signing_secret: SecretStr | None = Field(None, description="Signing secret of the [Slack app](integrations.md#slack), to look up transfers in Slack. Unset: `/slack/command` and `/slack/events` don't exist.")
    intents_slack_bot_token: SecretStr | None = Field(None, description="Bot token of the Slack app, to show transfers below links to them. Unset: links get Slack's own preview.")
    intents_metrics: Networks = Field(LOOPBACK, validate_default=True, description="Addresses and networks (comma-separated) that may read `/metrics`, if Prometheus is on another machine. A proxy that forwards clients must be in `TRUSTED_PROXIES`.")
    log_format: Literal["text", "json"] = Field("text", description="`text` for people, or `json` for a log collector, with one JSON object per line")
    sentry_dsn: SecretStr | None = Field(None, description="Sentry DSN, to have errors reported. Requires the extra `sentry`.")
    # fmt: on

    @field_validator(*PATTERNS, *PARSERS)
    @classmethod
    def match(cls, value: Any, info: ValidationInfo) -> Any:
        text, name = value.get_secret_value() if isinstance(value, SecretStr) else value, str(info.field_name)
        pattern, problem = PATTERNS.get(name, (None, ""))
        for each in text if isinstance(text, list) else [text] if text is not None else []:
            if pattern is None:
                PARSERS[name](each)
            elif not re.fullmatch(pattern, each, re.ASCII):
                raise ValueError(problem)
        return value

    @field_validator("intents_service_url")
    @classmethod
    def validate_service_url(cls, value: Any) -> Any:
        """Reject URLs with parts that may be secret, because the URL is logged, and those that expose the access key."""
        if not isinstance(value, HttpUrl):
            return value
        if not (value.username is value.password is value.query is value.fragment is None):
            raise ValueError(
                "must not contain credentials, a query or a fragment. Put the key in INTENTS_SERVICE_ACCESS_KEY."
            )
        if value.scheme != "https" and not is_nearby((value.host or "").strip("[]")):
            raise ValueError(
                "must use https, because http exposes the access key."
                " Only to this machine, a private address or a host name without a dot it may use http."
            )
        return value

    @field_validator("redis_url")
    @classmethod
    def validate_redis_url(cls, value: Any) -> Any:
        if value is None:
            return value
        known = REDIS_OPTIONS | (REDISS_OPTIONS if value.scheme == "rediss" else set())
        if unknown := {name for name, _ in value.query_params()} - known:
            raise ValueError(f"must have no options other than {', '.join(sorted(known))}, not {min(unknown)[:40]!r}")
        from redis.connection import parse_url  # imported only with Redis, because it is large

        parse_url(str(value))  # type: ignore[no-untyped-call]
        return value

    @field_validator("host")
    @classmethod
    def validate_interface(cls, value: str) -> str:
        """Accept an IPv6 address with or without brackets."""
        host = value.removeprefix("[").removesuffix("]")
        if not (is_address(host) or re.fullmatch(HOST_NAME, host)):
            raise ValueError("must be an IP address or host name. Set the port with PORT.")
        return host

    @property
    def authority(self) -> str:
        """Host and port as in a URL."""
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"

    @property
    def embedded(self) -> bool:
        return self.intents_service_url in (None, "embedded")

    @property
    def console(self) -> Literal["off", "read", "write"]:
        """What clients can do in the console: `read` changes nothing. Demo data needs no protection."""
        if not apps.is_installed("intents_ui.console"):
            return "off"
        return self.intents_console or ("write" if self.embedded else "off")

    @property
    def insight(self) -> Literal["public", "staff", "off"]:
        """Who sees what the mirror knows."""
        return self.intents_insight if apps.is_installed("intents_ui.insight") else "off"

    @cached_property
    def api_tokens(self) -> tuple[api_access.Token, ...]:
        return api_access.parse(self.intents_api_tokens.get_secret_value()) if self.intents_api_tokens else ()

    @property
    def wide_proxies(self) -> list[IPvAnyNetwork]:
        """Trusted networks so wide that clients are in them. No CDN has one."""
        return [each for each in self.trusted_proxies if not each.is_private and each.prefixlen < WIDE[each.version]]

    @model_validator(mode="after")
    def validate_together(self) -> Self:
        is_real, is_open = not self.embedded, not is_loopback(self.host)
        has_groups = bool(self.intents_support_groups or self.intents_operator_groups)
        has_operators = self.intents_console_token is not None or bool(self.intents_operator_groups)
        # fmt: off
        problems = {
            f"SECRET_KEY: at least {SHORTEST_SECRET} characters required with INTENTS_SERVICE_URL": is_real and len(self.secret_key or "") < SHORTEST_SECRET,
            "INTENTS_CONSOLE_TOKEN: required with INTENTS_CONSOLE=write and a real service, or INTENTS_OPERATOR_GROUPS": is_real and self.intents_console == "write" and not has_operators,
            "INTENTS_USER_HEADER: requires TRUSTED_PROXIES, because anyone else could forge it": self.intents_user_header and not self.trusted_proxies,
            "INTENTS_USER_HEADER: TRUSTED_PROXIES is so wide that visitors are in it. List the proxies only.": self.intents_user_header and self.wide_proxies,
            "INTENTS_GROUPS_HEADER: requires INTENTS_USER_HEADER": self.intents_groups_header and not self.intents_user_header,
            "INTENTS_SUPPORT_GROUPS and INTENTS_OPERATOR_GROUPS: require INTENTS_GROUPS_HEADER": has_groups and not self.intents_groups_header,
            f"INTENTS_SERVICE_URL: required when HOST ({self.host}) is not loopback. Use `embedded` to serve demo data publicly.": is_open and self.intents_service_url is None,
            "DEBUG: requires the emulator and a loopback HOST": self.debug and (is_real or is_open),
            "WEB_CONCURRENCY: must be 1 with the emulator": self.embedded and self.web_concurrency > 1,
            'SENTRY_DSN: requires packages that are not installed: pip install "intents-ui[sentry]"': self.sentry_dsn and not database.is_installed("sentry_sdk"),
        }
        # fmt: on
        for problem, is_wrong in problems.items():
            if is_wrong:
                raise ValueError(problem)
        return self


def is_loopback(host: str) -> bool:
    return host == "localhost" or (is_address(host) and ipaddress.ip_address(host).is_loopback)


def is_nearby(host: str) -> bool:
    """Return whether a host is this machine, has a private address, or has no dot, as names in container networks."""
    if not is_address(host):
        return "." not in host
    return is_loopback(host) or any(ipaddress.ip_address(host) in network for network in PRIVATE)


def is_address(host: str) -> bool:
    try:
        ipaddress.ip_address(host)
    except ValueError:
        return False
    return True


def read_environment(secrets_dir: Path = SECRETS_DIR) -> Environment:
    """Return the settings. An invalid or unknown one ends the process with a line that names it."""
    try:
        files = [each.name for each in secrets_dir.iterdir()] if secrets_dir.is_dir() else None
    except OSError as error:
        sys.exit(f"{secrets_dir}: can't be read ({type(error).__name__})")
    for name in sorted([*os.environ, *(files or [])]):
        if name.upper().startswith("INTENTS_") and name.lower() not in Environment.model_fields:
            close = difflib.get_close_matches(name.lower(), Environment.model_fields, n=1)
            sys.exit(f"{name}: no such setting{f'. Did you mean {close[0].upper()}?' if close else ''}")
    try:
        with warnings.catch_warnings(action="error"):  # about files that would be skipped
            return Environment(_secrets_dir=None if files is None else secrets_dir)
    except SettingsError as error:
        name = next((each for each in Environment.model_fields if f'"{each}"' in str(error)), "a setting")
        sys.exit(f"{name.upper()}: must be a readable text file in {secrets_dir}")
    except ValidationError as error:
        first = error.errors()[0]
        name = str(first["loc"][0]).upper() + ": " if first["loc"] else ""
        sys.exit(f"{name}{first['msg'].removeprefix('Value error, ')}")


ENV = read_environment()

# Unix time at which a demo started, set by `runserver` for its processes, so that they generate the same transfers.
DEMO_STARTED = float(os.environ["DEMO_STARTED"]) if ENV.embedded and "DEMO_STARTED" in os.environ else None

DEBUG = ENV.debug
DEFAULT_EXCEPTION_REPORTER_FILTER = "intents_ui.ops.logs.NoSettings"
# With the emulator nothing outlives the process, so a random key per start is enough.
SECRET_KEY = ENV.secret_key.get_secret_value() if ENV.secret_key else secrets.token_urlsafe(50)
ALLOWED_HOSTS = ENV.allowed_hosts

# Checked and set by pages with forms that write (`operator_auth.operator_form`), which make its cookie Secure over HTTPS.
CSRF_TRUSTED_ORIGINS = ENV.csrf_trusted_origins
CSRF_COOKIE_AGE = None  # until the browser is closed
CSRF_COOKIE_HTTPONLY = True
CSRF_FAILURE_VIEW = "intents_ui.http.failures.csrf_failure"

# The mirror's. Pages that need no mirror never query it.
MIRROR_DATABASE: dict[str, Any] | None = database.of_demo() if ENV.embedded else None
if ENV.intents_database is not None:
    MIRROR_DATABASE = database.of_url(ENV.intents_database.get_secret_value())
DATABASES: dict[str, Any] = {"default": MIRROR_DATABASE} if MIRROR_DATABASE else {}
INSTALLED_APPS = ["intents_ui", "django_htmx", "django.contrib.staticfiles"]
# Each of these can be left out here and in urls.py: pages don't link to what isn't installed.
INSTALLED_APPS += [
    "intents_ui.insight",
    "intents_ui.share",
    "intents_ui.console",
    "intents_ui.helpdesk",
]
INSTALLED_APPS += ["intents_ui.mirror"] if MIRROR_DATABASE else []
INSTALLED_APPS += ["corsheaders"] if ENV.intents_api_origins else []
MIDDLEWARE = [
    "intents_ui.http.headers.add_security_headers",
    "django.middleware.csp.ContentSecurityPolicyMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    *(["corsheaders.middleware.CorsMiddleware"] if ENV.intents_api_origins else []),
    "django.middleware.security.SecurityMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "intents_ui.http.limits.RateLimits",
    "intents_ui.http.headers.compressed",
    "intents_ui.http.headers.ConditionalGet",
    "django_htmx.middleware.HtmxMiddleware",
    "intents_ui.http.secret_text.refuse_secrets",
    "intents_ui.http.failures.add_stale_notice",
    "intents_ui.http.failures.FailurePages",
    "django.middleware.common.CommonMiddleware",
]
ROOT_URLCONF = "intents_ui.urls"
APPEND_SLASH = False
# Cached responses, export progress and submitted forms. JSON, because write access to a cache of pickles would allow code execution.
# Installations with another SECRET_KEY can share a Redis.
OWNER = hmac.digest(SECRET_KEY.encode(), b"intents_ui owner of keys in Redis", "sha256").hex()[:16]


OWN_CACHE = {"BACKEND": "django.core.cache.backends.locmem.LocMemCache", "OPTIONS": {"MAX_ENTRIES": 20_000}}
SHARED_CACHE = {
    "BACKEND": "django.core.cache.backends.redis.RedisCache",
    "LOCATION": str(ENV.redis_url),
    "KEY_PREFIX": f"intents-ui:{OWNER}",
    "OPTIONS": {
        "serializer": "django.core.signing.JSONSerializer",
        "socket_timeout": REDIS_SECONDS,
        "socket_connect_timeout": REDIS_SECONDS,
    },
}
# "own": submitted forms while the shared cache is down.
CACHES = {"default": SHARED_CACHE if ENV.redis_url else OWN_CACHE, "own": OWN_CACHE}
TEMPLATES = [
    {
        "BACKEND": "django.template.backends.jinja2.Jinja2",
        "DIRS": [installation.ROOT / "templates"],
        "OPTIONS": {
            "environment": "intents_ui.web.jinja.environment",
            "context_processors": ["intents_ui.web.frame.context"],
        },
    }
]

TIME_ZONE = "UTC"
USE_I18N = False

# More than any of our forms or filters has.
DATA_UPLOAD_MAX_NUMBER_FIELDS = 200
DATA_UPLOAD_MAX_NUMBER_FILES = 1

# A file each. `collectstatic` writes all of them.
COMPILED_TEMPLATES = installation.generated() / ".templates"

STATIC_URL = "/static/"
STATIC_ROOT = installation.generated() / ".static"
STATICFILES_DIRS = [installation.ROOT / "static"]
# Collected when the image is built or a wheel first starts: hashed names, compressed, cached by browsers for a year. In a
# checkout: the files as they are.
COLLECTED = (STATIC_ROOT / "staticfiles.json").exists() and not DEBUG
STORAGES = {
    "staticfiles": {
        "BACKEND": "intents_ui.web.assets.BundlingStorage"
        if COLLECTED or "collectstatic" in sys.argv
        else "django.contrib.staticfiles.storage.StaticFilesStorage"
    }
}
WHITENOISE_USE_FINDERS = not COLLECTED
WHITENOISE_AUTOREFRESH = not COLLECTED
WHITENOISE_ALLOW_ALL_ORIGINS = False

# Content security policy of pages. http/headers.py has the others. Scripts are allowed by origin only: with
# `strict-dynamic` or a nonce, htmx would run scripts in a fragment. static/js/page.js has the only policy by
# which text can become HTML.
SECURE_CSP: dict[str, list[str]] = {
    "default-src": [CSP.NONE],
    "script-src": [CSP.SELF],
    "style-src": [CSP.SELF],
    "img-src": [CSP.SELF, *(f"https://{host}" for host in ENV.intents_logo_hosts)],
    "font-src": [CSP.SELF],
    "connect-src": [CSP.SELF],
    "manifest-src": [CSP.SELF],
    "form-action": [CSP.SELF],
    "object-src": [CSP.NONE],
    "base-uri": [CSP.NONE],
    "frame-ancestors": [CSP.NONE],
    "require-trusted-types-for": ["'script'"],
    "trusted-types": ["default"],
}
SECURE_REFERRER_POLICY = "strict-origin-when-cross-origin"

# Other sites' pages that may read the API. Never with cookies.
CORS_URLS_REGEX = f"^{api_access.API}"
CORS_ALLOW_ALL_ORIGINS = "*" in ENV.intents_api_origins
CORS_ALLOWED_ORIGINS = [] if CORS_ALLOW_ALL_ORIGINS else ENV.intents_api_origins
CORS_ALLOW_METHODS = ["GET", "HEAD", "POST"]
CORS_ALLOW_HEADERS = ["authorization", "content-type", "if-none-match"]
CORS_EXPOSE_HEADERS = ["ETag", "RateLimit", "RateLimit-Policy", "Retry-After", "X-Request-ID"]

# For a proxy that terminates TLS. Its `X-Forwarded-Proto` is trusted if it is in TRUSTED_PROXIES (gunicorn.conf.py).
BY_HTTPS = ENV.intents_https == "on"
SECURE_SSL_REDIRECT = BY_HTTPS
SECURE_HSTS_SECONDS = 63_072_000 if BY_HTTPS else 0
SECURE_HSTS_INCLUDE_SUBDOMAINS = True
SECURE_HSTS_PRELOAD = True
CSRF_COOKIE_SECURE = BY_HTTPS
CSRF_COOKIE_NAME = "__Host-csrftoken" if BY_HTTPS else "csrftoken"
# Django's CSRF middleware would require tokens, and so cookies, also for forms that change nothing. Those that write have
# its decorator (`operator_auth.operator_form`), and `failures.FailurePages` is for all. A test checks every URL.
SILENCED_SYSTEM_CHECKS = ["security.W003"]

LOGGING = {
    "version": 1,
    "disable_existing_loggers": False,
    "formatters": {
        "text": {"()": "intents_ui.ops.logs.TextLines", "fmt": "{asctime} {levelname} {name}: {message}", "style": "{"},
        "json": {"()": "intents_ui.ops.logs.JsonLines"},
    },
    "filters": {
        "refused_requests": {"()": "intents_ui.ops.logs.RefusedRequests"},
        "once": {"()": "intents_ui.ops.logs.OnceOnly"},
    },
    "handlers": {
        "console": {
            "class": "logging.StreamHandler",
            "formatter": ENV.log_format,
            "filters": ["refused_requests", "once"],
        }
    },
    # Missing pages and service calls are ordinary events. Errors are logged with their request ID.
    "loggers": {
        "django.request": {"level": "CRITICAL"},
        "gunicorn.error": {"level": "WARNING", "handlers": [], "propagate": True},
        # At lower levels they log headers, including the access key.
        "httpcore": {"level": "WARNING"},
        "httpx": {"level": "WARNING"},
        # It logs each attempt to connect. The mirror's readers log an outage once.
        "psycopg.pool": {"level": "ERROR"},
    },
    "root": {"handlers": ["console"], "level": "INFO"},
}
