"""Leases and newest snapshots of watched intents in Redis, so that one of several processes polls each intent.

The process that holds an intent's lease polls the service and stores its snapshots, and the others read them. One
script per beat does all of it. A process that finds the lease free takes it, so a dead leader is replaced within LEASE
plus a beat of the hub. While Redis is down, each process polls for itself.
"""

import logging
import secrets
from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

from intents_ui.live.snapshot import Snapshot
from intents_ui.service.decode import Brand
from intents_ui.service.redis import redis_errors, shared_ignored

if TYPE_CHECKING:  # from a layer above
    from intents_ui.web.shared_responses import SignedValues

log = logging.getLogger(__name__)

LEASE: Final = 4.0
KEPT: Final = 60.0  # seconds for which the newest snapshot of an intent outlives its last watch
PATIENCE: Final = 1.0  # Redis timeout in seconds
VERSION: Final = 32  # last characters of a stored snapshot, which is signed: they differ for each

# KEYS: lease and snapshot of each intent, then the leases to release. ARGV: our ID, the TTL of leases and that of
# snapshots in milliseconds, the number of intents, and the length of versions. Then for each intent the snapshot to
# store, if any, and the version of the stored one that we know. Returns for each intent 1 if we hold its lease, else
# the stored snapshot if it is another one than we know, else 0. A process that was suspended and lost its lease
# overwrites nothing.
_SYNC: Final = """
local intents, length = tonumber(ARGV[4]), tonumber(ARGV[5])
for place = 2 * intents + 1, #KEYS do
  if redis.call('GET', KEYS[place]) == ARGV[1] then redis.call('DEL', KEYS[place]) end
end
local replies = {}
for place = 1, 2 * intents, 2 do
  local lease, stored = KEYS[place], KEYS[place + 1]
  local snapshot, known = ARGV[place + 5], ARGV[place + 6]
  local owner = redis.call('GET', lease)
  local reply = 0
  if not owner or owner == ARGV[1] then
    redis.call('SET', lease, ARGV[1], 'PX', ARGV[2])
    if snapshot ~= '' then redis.call('SET', stored, snapshot) end
    redis.call('PEXPIRE', stored, ARGV[3])
    reply = 1
  elseif redis.call('GETRANGE', stored, -length, -1) ~= known then
    reply = redis.call('GET', stored) or 0
  end
  table.insert(replies, reply)
end
return replies
"""


class RedisBus:
    """Bus over Redis, dedicated or shared, but not a cluster, because the script uses several keys.

    `names` are the deployment's field names. `signed` signs snapshots, because other clients of that Redis may write
    there, too.
    """

    def __init__(self, url: str, *, names: Brand, signed: "SignedValues", prefix: str = "intents-ui:live:3:") -> None:
        from redis.asyncio import Redis
        from redis.asyncio.retry import Retry
        from redis.backoff import NoBackoff

        # Without retries, which would delay the fallback to polling.
        self._redis = Redis.from_url(
            url, socket_timeout=PATIENCE, socket_connect_timeout=PATIENCE, retry=Retry(NoBackoff(), 0)
        )
        self._script = self._redis.register_script(_SYNC)
        self._signed = signed
        self._names = names
        self._prefix = prefix
        self._process_id = secrets.token_hex(8)
        self._leading: dict[str, Snapshot | None] = {}  # intents whose lease we hold, and what we stored last
        self._versions: dict[str, bytes] = {}  # of the stored snapshots that we know
        self.is_disconnected = False

    async def sync(self, newest: Mapping[str, Snapshot | None]) -> dict[str, Snapshot | None]:
        """Renew the leases of these intents, store their newest snapshots, and release all other leases.

        Returns the intents that other processes poll, each with its snapshot unless it is known. This process has to
        poll the others, which are all of them while Redis is down.
        """
        try:
            replies = await self._run(newest)
        except Exception as error:
            if not self.is_disconnected:
                log.warning(
                    "Redis unavailable; falling back to per-process polling: %s",
                    type(error).__name__,
                    exc_info=not isinstance(error, redis_errors()),
                )
            self.is_disconnected = True
            self._leading.clear()
            self._versions.clear()
            return {}
        if self.is_disconnected:
            self.is_disconnected = False
            log.warning("Redis available again")
        return {
            intent_id: self._newer(intent_id, reply, than=newest[intent_id]) if isinstance(reply, bytes) else None
            for intent_id, reply in replies.items()
            if reply != 1
        }

    async def aclose(self) -> None:
        await self.sync({})
        await self._redis.aclose()

    async def _run(self, newest: Mapping[str, Snapshot | None]) -> dict[str, bytes | int]:
        self._versions = {each: version for each, version in self._versions.items() if each in newest}
        keys, values = list[str](), list[str | bytes]()
        for intent_id, snapshot in newest.items():
            is_new = snapshot and intent_id in self._leading and snapshot is not self._leading[intent_id]
            keys += [self._key("lease", intent_id), self._key("snapshot", intent_id)]
            values += [self._signed.sign(snapshot.to_text(), place=intent_id) if snapshot and is_new else ""]
            values += [self._versions.get(intent_id, b"")]
        released = [self._key("lease", intent_id) for intent_id in self._leading.keys() - newest.keys()]
        arguments = [self._process_id, round(LEASE * 1000), round(KEPT * 1000), len(newest), VERSION, *values]
        replies = dict(zip(newest, await self._script([*keys, *released], arguments), strict=True))
        self._leading = {
            each: newest[each] if each in self._leading else None for each, reply in replies.items() if reply == 1
        }
        return replies

    def _newer(self, intent_id: str, stored: bytes, *, than: Snapshot | None) -> Snapshot | None:
        """Return a snapshot that another process stored, or None if it is older than this process's own.

        None if it is unsigned or invalid, too: no text in Redis may end the task that reads it.
        """
        is_first = intent_id not in self._versions
        self._versions[intent_id] = stored[-VERSION:]
        text = self._signed.unsign(stored.decode("ascii", "replace"), place=intent_id)
        if text is None:
            log.warning("Ignored a snapshot in Redis that is not signed with this SECRET_KEY")
            return None
        try:
            snapshot = Snapshot.from_text(text, self._names)
            if snapshot.intent_id != intent_id:
                raise ValueError("it is of another intent")
        except Exception as error:
            shared_ignored["unreadable"].inc()
            log.warning(
                "Can't read a snapshot in Redis (%s); another version of the dashboard may have written it",
                type(error).__name__,
            )
            return None
        if not (is_first and than and than.learned_at):
            return snapshot  # only the first may be older. Later ones are as the leader stored them
        return snapshot if snapshot.learned_at and snapshot.learned_at >= than.learned_at else None

    def _key(self, kind: str, intent_id: str) -> str:
        return f"{self._prefix}{kind}:{intent_id}"
