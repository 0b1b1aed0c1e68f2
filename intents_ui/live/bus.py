"""Leader election and newest snapshots of watched intents.

`LocalBus` serves a single process. With `RedisBus`, several processes share an intent: one holds a lease, polls the
service and stores its snapshots, and the others read them. One script per beat does all of it. A process that finds the
lease free takes it, so a dead leader is replaced within LEASE + BEAT seconds. While Redis is down, each process polls
for itself.
"""

import asyncio
import contextlib
import logging
import secrets
from typing import Final, Protocol

from intents_ui.live.snapshot import Snapshot
from intents_ui.live.tasks import restart_forever
from intents_ui.service import metrics
from intents_ui.service.decode import Brand
from intents_ui.service.redis import redis_errors

log = logging.getLogger(__name__)

LEASE: Final = 4.0
BEAT: Final = 0.5
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


class Member(Protocol):
    """A process's interest in one intent. The bus says whether it leads, and delivers snapshots of other processes."""

    @property
    def newest(self) -> Snapshot | None: ...
    def start_leading(self) -> None: ...
    def stop_leading(self) -> None: ...
    def on_snapshot(self, snapshot: Snapshot) -> None: ...


class SignedTexts(Protocol):
    """Signs and verifies texts, each for one place."""

    def sign(self, value: str, *, place: str) -> str: ...
    def unsign(self, signed: str, *, place: str) -> str | None: ...


class LocalBus:
    """Members join and leave, and one member of each intent leads: here, in a single process, each does.

    Only the leader publishes its newest snapshot.
    """

    def join(self, intent_id: str, member: Member) -> None:
        member.start_leading()

    def leave(self, intent_id: str) -> None:
        pass

    def publish(self, intent_id: str) -> None:
        pass

    async def aclose(self) -> None:
        pass


class RedisBus(LocalBus):
    """Bus over Redis, dedicated or shared, but not a cluster, because the script uses several keys.

    `names` are the deployment's field names. `signed` signs snapshots, because other clients of that Redis may write
    there, too.
    """

    def __init__(self, url: str, *, names: Brand, signed: SignedTexts, prefix: str = "intents-ui:live:3:") -> None:
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
        self._members: dict[str, Member] = {}
        self._leading: set[str] = set()  # intents whose lease we hold
        self._unpublished: set[str] = set()
        self._versions: dict[str, bytes] = {}  # of the stored snapshots that we know
        self.is_disconnected = False
        self._wakeup = asyncio.Event()
        self._task: asyncio.Task[None] | None = None

    def join(self, intent_id: str, member: Member) -> None:
        self._members[intent_id] = member
        self._leading.discard(intent_id)  # a previous member may have led, the new one isn't told yet
        if self.is_disconnected:
            member.start_leading()
        self._wakeup.set()
        if self._task is None:
            self._task = asyncio.create_task(restart_forever(self._run, name="live bus", pause=LEASE))

    def leave(self, intent_id: str) -> None:
        self._members.pop(intent_id, None)
        self._unpublished.discard(intent_id)
        self._versions.pop(intent_id, None)
        self._wakeup.set()

    def publish(self, intent_id: str) -> None:
        self._unpublished.add(intent_id)
        self._wakeup.set()

    async def aclose(self) -> None:
        if self._task:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)
            with contextlib.suppress(*redis_errors()):
                await self._sync({}, released=self._leading)
        await self._redis.aclose()

    async def _run(self) -> None:
        while True:
            self._wakeup.clear()
            try:
                await self._beat()
            except Exception as error:
                self._poll_alone(error)
                if not isinstance(error, redis_errors()):
                    raise
                await asyncio.sleep(BEAT)
            else:
                with contextlib.suppress(TimeoutError):
                    await asyncio.wait_for(self._wakeup.wait(), BEAT)

    def _poll_alone(self, error: Exception) -> None:
        if not self.is_disconnected:
            log.warning("Redis unavailable; falling back to per-process polling: %s", type(error).__name__)
        self.is_disconnected = True
        self._leading.clear()
        self._versions.clear()
        for member in list(self._members.values()):
            member.start_leading()

    async def _beat(self) -> None:
        """Renew and release leases, store our new snapshots, and read those of other processes."""
        members = dict(self._members)
        released = self._leading - members.keys()
        replies = await self._sync(members, released=released)
        self._leading -= released
        if self.is_disconnected:
            self.is_disconnected = False
            log.warning("Redis available again")
        for (intent_id, member), reply in zip(members.items(), replies, strict=True):
            if self._members.get(intent_id) is not member:
                continue  # left in the meantime: the next beat releases the lease
            if reply == 1:
                self._lead(intent_id, member)
            else:
                self._follow(intent_id, member, stored=reply if isinstance(reply, bytes) else None)

    async def _sync(self, members: dict[str, Member], *, released: set[str]) -> list[bytes | int]:
        keys, values = list[str](), list[str | bytes]()
        for intent_id, member in members.items():
            keys += [self._lease_key(intent_id), self._snapshot_key(intent_id)]
            new = member.newest if intent_id in self._unpublished else None
            values += [self._signed.sign(new.to_text(), place=intent_id) if new else ""]
            values += [self._versions.get(intent_id, b"")]
        self._unpublished.clear()
        ttls = [round(LEASE * 1000), round(KEPT * 1000)]
        replies: list[bytes | int] = await self._script(
            [*keys, *map(self._lease_key, released)], [self._process_id, *ttls, len(members), VERSION, *values]
        )
        return replies

    def _lead(self, intent_id: str, member: Member) -> None:
        if intent_id not in self._leading:
            self._leading.add(intent_id)
            member.start_leading()
            self.publish(intent_id)  # what this process knew as a follower, or while Redis was down

    def _follow(self, intent_id: str, member: Member, *, stored: bytes | None) -> None:
        self._leading.discard(intent_id)
        member.stop_leading()
        if stored is None:
            return
        is_first = intent_id not in self._versions
        self._versions[intent_id] = stored[-VERSION:]
        snapshot = self._read(intent_id, stored)
        # The first may be older than what this process learned by itself. Later ones are as the leader sent them.
        if snapshot and not (is_first and _is_older(snapshot, member.newest)):
            member.on_snapshot(snapshot)

    def _read(self, intent_id: str, stored: bytes) -> Snapshot | None:
        """Return a snapshot, or None if it is unsigned or invalid. No text in Redis may end the task that reads it."""
        text = self._signed.unsign(stored.decode("ascii", "replace"), place=intent_id)
        if text is None:
            log.warning("Ignored a snapshot in Redis that is not signed with this SECRET_KEY")
            return None
        try:
            snapshot = Snapshot.from_text(text, self._names)
            if snapshot.intent_id != intent_id:
                raise ValueError("it is of another intent")
        except Exception as error:
            metrics.shared_ignored.labels("unreadable").inc()
            log.warning(
                "Can't read a snapshot in Redis (%s); another version of the dashboard may have written it",
                type(error).__name__,
            )
            return None
        return snapshot

    def _lease_key(self, intent_id: str) -> str:
        return f"{self._prefix}lease:{intent_id}"

    def _snapshot_key(self, intent_id: str) -> str:
        return f"{self._prefix}snapshot:{intent_id}"


def _is_older(snapshot: Snapshot, than: Snapshot | None) -> bool:
    if than is None or than.learned_at is None:
        return False
    return snapshot.learned_at is None or snapshot.learned_at < than.learned_at
