"""Leases and newest snapshots of watched intents in Redis, so that one of several processes polls each intent.

The process that holds an intent's lease polls the service and stores its snapshots, and the others read them. A lease
names its process and the stored snapshot. A process that finds the lease free takes it, so a dead leader is replaced
within LEASE plus a beat of the hub. While Redis is down, each process polls for itself.
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

# Renews a lease and stores its snapshot, or without a new lease releases it, unless another process has taken it from
# this one, which may have been suspended. KEYS: lease and snapshot. ARGV: the lease as this process knows it, the new
# one, its TTL, the snapshot to store, if any, and its TTL.
_WRITE: Final = """
if redis.call('GET', KEYS[1]) ~= ARGV[1] then return end
if ARGV[2] == '' then return redis.call('DEL', KEYS[1]) end
redis.call('SET', KEYS[1], ARGV[2], 'PX', ARGV[3])
if ARGV[4] ~= '' then redis.call('SET', KEYS[2], ARGV[4]) end
redis.call('EXPIRE', KEYS[2], ARGV[5])
"""


class RedisBus:
    """Bus over Redis, dedicated or shared.

    `names` are the deployment's field names. `signed` signs snapshots, because other clients of that Redis may write
    there, too.
    """

    def __init__(self, url: str, *, names: Brand, signed: "SignedValues", prefix: str = "intents-ui:live:4:") -> None:
        self._redis = redis_client(url)
        self._guard = RedisGuard("each process polls for itself", pause=PAUSE)
        self._signed = signed
        self._names = names
        self._prefix = prefix
        self._process_id = secrets.token_hex(8)
        self._leases: dict[str, str] = {}  # those that we hold, as stored
        self._known: dict[str, bytes] = {}  # those of others whose snapshots we know
        self.is_disconnected = False

    async def sync(self, newest: Mapping[str, Snapshot | None]) -> dict[str, Snapshot | None]:
        """Renew the leases of these intents, store their newest snapshots, and release all other leases.

        Returns the intents that other processes poll, each with its snapshot unless it is known. This process has to
        poll the others, which are all of them while Redis is down.
        """
        of_others = await asyncio.to_thread(self._guard.call, partial(self._sync, newest))
        self.is_disconnected = of_others is None
        if of_others is None:
            self._leases, self._known = {}, {}
        return of_others or {}

    async def aclose(self) -> None:
        await self.sync({})
        self._redis.close()

    def _sync(self, newest: Mapping[str, Snapshot | None]) -> dict[str, Snapshot | None]:
        with self._redis.pipeline(transaction=False) as pipeline:
            for intent_id in newest:
                pipeline.set(self._key("lease", intent_id), self._process_id, nx=True, px=LEASE)
                pipeline.get(self._key("lease", intent_id))
            leases = dict(zip(newest, pipeline.execute()[1::2], strict=True))
            held = {
                each: self._lease(each, newest[each])
                for each, lease in leases.items()
                if lease and lease.startswith(self._process_id.encode())
            }
            for intent_id, lease in held.items():
                snapshot, stored = newest[intent_id], ""
                if snapshot and lease not in (self._process_id, self._leases.get(intent_id)):
                    stored = self._signed.sign(snapshot.to_text(), place=intent_id)
                self._write(pipeline, intent_id, leases[intent_id], lease, stored)
            for intent_id in self._leases.keys() - newest.keys():
                self._write(pipeline, intent_id, self._leases[intent_id], "")
            pipeline.execute()
        others = {each: lease for each, lease in leases.items() if each not in held}
        changed = [each for each, lease in others.items() if lease != self._known.get(each)]
        texts: list[Any] = self._redis.mget([self._key("snapshot", each) for each in changed]) if changed else []
        found = {
            each: self._newer(each, text, than=newest[each]) for each, text in zip(changed, texts, strict=True) if text
        }
        self._leases, self._known = held, others
        return {each: found.get(each) for each in others}

    def _write(self, pipeline: Any, intent_id: str, known: bytes | str, lease: str, stored: str = "") -> None:
        keys = self._key("lease", intent_id), self._key("snapshot", intent_id)
        pipeline.eval(_WRITE, len(keys), *keys, known, lease, LEASE, stored, KEPT)

    def _lease(self, intent_id: str, snapshot: Snapshot | None) -> str:
        """Return a lease of ours. A new one names no snapshot, because that of the former leader may be newer."""
        if snapshot is None or intent_id not in self._leases:
            return self._process_id
        return f"{self._process_id} {snapshot.id} {snapshot.learned_at}"

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
