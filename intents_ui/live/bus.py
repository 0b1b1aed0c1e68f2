"""Leases and newest snapshots of watched intents in Redis, so that one of several processes polls each intent.

The process that holds an intent's lease polls the service and stores its snapshots, and the others read them. One
script per beat does all of it. A process that finds the lease free takes it, so a dead leader is replaced within LEASE
plus a beat of the hub. While Redis is down, each process polls for itself.
"""

import asyncio
import logging
import secrets
from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING, Any, Final

from intents_ui.live.snapshot import Snapshot
from intents_ui.service.decode import Brand
from intents_ui.service.redis import RedisGuard, redis_client, shared_ignored

if TYPE_CHECKING:  # from a layer above
    from intents_ui.web.shared_responses import SignedValues

log = logging.getLogger(__name__)

LEASE: Final = 4000  # milliseconds
KEPT: Final = 60  # seconds for which the newest snapshot of an intent outlives its last watch
PAUSE: Final = 5.0  # seconds without calls to Redis after a failure
VERSION: Final = 32  # last characters of a stored snapshot, which is signed: they differ for each

# KEYS: lease and snapshot of each intent, then the leases to release. ARGV: our ID, the TTLs of leases and snapshots,
# the number of intents, and the length of versions. Then for each intent the snapshot to store, if any, and the version
# of the stored one that we know. Returns for each intent 1 if we hold its lease, else the stored snapshot if it is
# another one than we know, else 0. A process that was suspended and lost its lease overwrites and releases nothing.
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
    redis.call('EXPIRE', stored, ARGV[3])
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

    def __init__(self, url: str, *, names: Brand, signed: "SignedValues", prefix: str = "intents-ui:live:4:") -> None:
        self._redis = redis_client(url)
        self._script = self._redis.register_script(_SYNC)
        self._guard = RedisGuard("each process polls for itself", pause=PAUSE)
        self._signed = signed
        self._names = names
        self._prefix = prefix
        self._process_id = secrets.token_hex(8)
        self._held: dict[str, Snapshot | None] = {}  # intents whose lease we hold, and what we stored last
        self._known: dict[str, bytes] = {}  # versions of the snapshots that we know of others
        self.is_disconnected = False

    async def sync(self, newest: Mapping[str, Snapshot | None]) -> dict[str, Snapshot | None]:
        """Renew the leases of these intents, store their newest snapshots, and release all other leases.

        Returns the intents that other processes poll, each with its snapshot unless it is known. This process has to
        poll the others, which are all of them while Redis is down.
        """
        of_others = await asyncio.to_thread(self._guard.call, partial(self._sync, newest))
        self.is_disconnected = of_others is None
        if of_others is None:
            self._held, self._known = {}, {}
        return of_others or {}

    async def aclose(self) -> None:
        await self.sync({})
        self._redis.close()

    def _sync(self, newest: Mapping[str, Snapshot | None]) -> dict[str, Snapshot | None]:
        keys, values = list[str](), list[str | bytes]()
        for intent_id, snapshot in newest.items():
            # Not with a new lease, because the snapshot of the former leader may be newer.
            is_new = snapshot and intent_id in self._held and snapshot is not self._held[intent_id]
            keys += [self._key("lease", intent_id), self._key("snapshot", intent_id)]
            values += [self._signed.sign(snapshot.to_text(), place=intent_id) if snapshot and is_new else ""]
            values += [self._known.get(intent_id, b"")]
        keys += [self._key("lease", each) for each in self._held.keys() - newest.keys()]
        arguments = [self._process_id, LEASE, KEPT, len(newest), VERSION, *values]
        replies: list[Any] = self._script(keys, arguments)
        found, held, known = dict[str, Snapshot | None](), dict[str, Snapshot | None](), dict[str, bytes]()
        for (intent_id, snapshot), reply in zip(newest.items(), replies, strict=True):
            if reply == 1:
                held[intent_id] = snapshot if intent_id in self._held else None
                continue
            found[intent_id] = self._newer(intent_id, reply, than=snapshot) if reply else None
            if version := reply[-VERSION:] if reply else self._known.get(intent_id):
                known[intent_id] = version
        self._held, self._known = held, known
        return found

    def _newer(self, intent_id: str, stored: bytes, *, than: Snapshot | None) -> Snapshot | None:
        """Return a snapshot that another process stored, or None if it is older than this process's own.

        None if it is unsigned or invalid, too: no text in Redis may end the task that reads it.
        """
        text = self._signed.unsign(stored.decode("ascii", "replace"), place=intent_id)
        try:
            snapshot = Snapshot.from_text(text or "", self._names)
        except Exception:
            if text:
                shared_ignored["unreadable"].inc()
            log.warning("Ignored a snapshot in Redis of another version of the dashboard or another SECRET_KEY")
            return None
        if intent_id in self._known or not (than and than.learned_at):
            return snapshot  # only the first may be older. Later ones are as the leader stored them
        return snapshot if snapshot.learned_at and snapshot.learned_at >= than.learned_at else None

    def _key(self, kind: str, intent_id: str) -> str:
        return f"{self._prefix}{kind}:{intent_id}"
