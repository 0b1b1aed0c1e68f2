"""Leader election and pub/sub for watched intents.

`LocalBus` serves a single process. With `RedisBus`, several processes share an intent: one holds a lease, polls the
service and publishes snapshots, and the others subscribe. A process that finds the lease free takes it, so a dead
leader is replaced within LEASE + BEAT seconds. While Redis is down, each process polls for itself.
"""

import asyncio
import contextlib
import logging
import secrets
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, Final, Protocol

from intents_ui.live.snapshot import Snapshot
from intents_ui.live.tasks import LongTask
from intents_ui.service import metrics
from intents_ui.service.decode import Brand
from intents_ui.service.redis import redis_errors

if TYPE_CHECKING:
    from redis.asyncio.client import PubSub

log = logging.getLogger(__name__)

LEASE: Final = 4.0
BEAT: Final = 0.5
KEPT: Final = 60.0  # seconds for which the newest snapshot of an intent outlives its last watch
PATIENCE: Final = 1.0  # Redis timeout in seconds
CONNECTIONS: Final = 4  # one subscribes, the others run commands


# Extend or take leases and return which of them we hold. KEYS: lease and snapshot of each intent. ARGV: our ID, the
# TTL of leases and the TTL of snapshots, in milliseconds.
_EXTEND_LEASES: Final = """
local ours = {}
for place = 1, #KEYS, 2 do
  local owner = redis.call('GET', KEYS[place])
  if not owner or owner == ARGV[1] then
    redis.call('SET', KEYS[place], ARGV[1], 'PX', ARGV[2])
    redis.call('PEXPIRE', KEYS[place + 1], ARGV[3])
    ours[#ours + 1] = 1
  else
    ours[#ours + 1] = 0
  end
end
return ours
"""
# Publish only while holding the lease: a process that was suspended must not overwrite its successor's snapshots.
_PUBLISH: Final = """
if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
redis.call('SET', KEYS[2], ARGV[3], 'PX', ARGV[2])
redis.call('PUBLISH', KEYS[3], ARGV[1] .. ARGV[3])
return 1
"""
_RELEASE: Final = """
for _, key in ipairs(KEYS) do
  if redis.call('GET', key) == ARGV[1] then redis.call('DEL', key) end
end
"""


class Member(Protocol):
    """A process's interest in one intent.

    It is told to lead or to stand back, and receives snapshots of other processes.
    """

    @property
    def newest(self) -> Snapshot | None: ...
    def lead(self) -> None: ...
    def release_lease(self) -> None: ...
    def hear(self, snapshot: Snapshot) -> None: ...


class SignedTexts(Protocol):
    """Signs and verifies texts, each for one place."""

    def sign(self, value: str, *, place: str) -> str: ...
    def unsign(self, signed: str, *, place: str) -> str | None: ...


class Bus(Protocol):
    """Members join and leave, and one member of each intent leads. Only the leader calls `tell`."""

    def join(self, intent_id: str, member: Member) -> None: ...
    def leave(self, intent_id: str) -> None: ...
    async def tell(self, intent_id: str, snapshot: Snapshot) -> None: ...
    async def aclose(self) -> None: ...


class LocalBus:
    """Bus of a single process: each member leads."""

    def join(self, intent_id: str, member: Member) -> None:
        member.lead()

    def leave(self, intent_id: str) -> None:
        pass

    async def tell(self, intent_id: str, snapshot: Snapshot) -> None:
        pass

    async def aclose(self) -> None:
        pass


class RedisBus:
    """Bus over Redis, dedicated or shared, but not a cluster, because the scripts use several keys.

    `names` are the deployment's field names. `signed` signs snapshots, because other clients of that Redis may write
    there, too. `restart` is the number of seconds of independent polling after an internal error.
    """

    def __init__(
        self,
        url: str,
        *,
        names: Brand,
        signed: SignedTexts,
        prefix: str = "intents-ui:live:2:",
        restart: float = LEASE,
    ) -> None:
        from redis.asyncio import BlockingConnectionPool, Redis
        from redis.asyncio.retry import Retry
        from redis.backoff import NoBackoff

        pool = BlockingConnectionPool.from_url(
            url,
            max_connections=CONNECTIONS,
            timeout=PATIENCE,
            socket_timeout=PATIENCE,
            socket_connect_timeout=PATIENCE,
            retry=Retry(NoBackoff(), 0),  # no blocking retries: the session is restarted instead
        )
        self._redis = Redis.from_pool(pool)
        self._extend_leases = self._redis.register_script(_EXTEND_LEASES)
        self._publish = self._redis.register_script(_PUBLISH)
        self._release = self._redis.register_script(_RELEASE)
        self._signed = signed
        self._names = names
        self._prefix = prefix
        self._restart = restart
        self._process_id = secrets.token_hex(8).encode()
        self._members: dict[str, Member] = {}
        self._leading: set[str] = set()  # intents whose lease we hold
        self._subscribed: set[str] = set()
        self._awaiting_stored: set[str] = set()  # members that may have missed the stored snapshot
        self.is_away = False
        self._is_broken = False
        self._heard_at = 0.0
        self._wakeup = asyncio.Event()
        self._task: LongTask | None = None

    def join(self, intent_id: str, member: Member) -> None:
        self._members[intent_id] = member
        self._leading.discard(intent_id)  # a previous member may have led, the new one isn't told yet
        if intent_id in self._subscribed:
            self._awaiting_stored.add(intent_id)
        if self.is_away:
            member.lead()
        self._wakeup.set()
        if self._task is None:
            self._task = LongTask("live bus", self._run, pause=self._restart)

    def leave(self, intent_id: str) -> None:
        self._members.pop(intent_id, None)
        self._awaiting_stored.discard(intent_id)
        self._wakeup.set()

    async def tell(self, intent_id: str, snapshot: Snapshot) -> None:
        if intent_id not in self._leading:
            return
        keys = [self._lease(intent_id), self._picture(intent_id), self._channel(intent_id)]
        try:
            text = self._signed.sign(snapshot.to_text(), place=intent_id)
            await self._publish(keys, [self._process_id, _milliseconds(KEPT), text])
        except redis_errors():
            # Subscribers may have missed it. In a new session each leader publishes its newest snapshot.
            self._is_broken = True
            self._wakeup.set()

    async def aclose(self) -> None:
        if self._task:
            self._task.task.cancel()
            await asyncio.gather(self._task.task, return_exceptions=True)
        with contextlib.suppress(*redis_errors()):
            await self._release_leases(self._leading)
        await self._redis.aclose()

    async def _run(self) -> None:
        while True:
            try:
                await self._session()
            except redis_errors() as error:
                self._run_without_redis(error)
                await asyncio.sleep(BEAT)
            except Exception as error:
                self._run_without_redis(error)
                raise

    def _run_without_redis(self, error: Exception) -> None:
        if not self.is_away:
            log.warning("Redis unavailable; falling back to per-process polling: %s", type(error).__name__)
        self.is_away = True
        self._heartbeat()
        for member in list(self._members.values()):
            member.lead()

    async def _session(self) -> None:
        """Run from one connection to Redis to its end, which is always an exception."""
        self._leading.clear()
        self._subscribed.clear()
        self._awaiting_stored.clear()
        self._is_broken = False
        async with self._redis.pubsub() as pubsub:
            await pubsub.subscribe(self._channel(""))
            self._heard_at = asyncio.get_running_loop().time()
            listening = asyncio.create_task(self._listen(pubsub))
            listening.add_done_callback(lambda _: self._wakeup.set())
            try:
                while True:
                    self._wakeup.clear()
                    await self._renew_leases(pubsub)
                    if listening.done():
                        listening.result()
                    with contextlib.suppress(TimeoutError):
                        await asyncio.wait_for(self._wakeup.wait(), BEAT)
            finally:
                listening.cancel()
                await asyncio.gather(listening, return_exceptions=True)

    async def _renew_leases(self, pubsub: "PubSub") -> None:
        """Align leases and subscriptions with the current members."""
        self._heartbeat()
        if self._is_broken:
            raise ConnectionError("a snapshot could not be published")
        if asyncio.get_running_loop().time() - self._heard_at > LEASE:
            raise ConnectionError("nothing was heard for too long")
        await self._subscribe(pubsub)
        await self._release_leases(self._leading - self._members.keys())
        await self._take_leases(sorted(self._members.keys() & self._subscribed))
        await self._deliver_stored()
        # A heartbeat to ourselves: without it, a subscription whose connection died silently would go unnoticed.
        await self._redis.publish(self._channel(""), b"")
        if self.is_away:
            self.is_away = False
            log.warning("Redis available again")

    def _heartbeat(self) -> None:
        if self._task:
            self._task.beat()

    async def _subscribe(self, pubsub: "PubSub") -> None:
        """Subscribe and unsubscribe.

        An intent counts as subscribed once Redis confirms it (`_listen`), so no later message is missed.
        """
        wanted = {self._channel(intent_id) for intent_id in self._members} | {self._channel("")}
        have = {channel.decode() for channel in pubsub.channels}
        if missing := wanted - have:
            await pubsub.subscribe(*missing)
        if surplus := have - wanted:
            self._subscribed -= {self._intent(channel) for channel in surplus}
            await pubsub.unsubscribe(*surplus)

    async def _take_leases(self, intent_ids: list[str]) -> None:
        if not intent_ids:
            return
        keys = [key(intent_id) for intent_id in intent_ids for key in (self._lease, self._picture)]
        ours = await self._extend_leases(keys, [self._process_id, _milliseconds(LEASE), _milliseconds(KEPT)])
        for intent_id, is_ours in zip(intent_ids, ours, strict=True):
            member = self._members.get(intent_id)
            if member is None:
                continue  # left in the meantime, the next beat releases the lease
            if not is_ours:
                self._leading.discard(intent_id)
                member.release_lease()
            elif intent_id not in self._leading:
                self._leading.add(intent_id)
                member.lead()
                if member.newest:
                    await self.tell(intent_id, member.newest)

    async def _deliver_stored(self) -> None:
        """Give subscribers the stored snapshot. Leaders poll the service, which is newer."""
        intent_ids = sorted(self._awaiting_stored - self._leading)
        self._awaiting_stored.clear()
        if not intent_ids:
            return
        stored = await self._redis.mget([self._picture(intent_id) for intent_id in intent_ids])
        for intent_id, text in zip(intent_ids, stored, strict=True):
            member, snapshot = self._members.get(intent_id), self._read(intent_id, text)
            if member and snapshot and _is_newer(snapshot, member.newest):
                member.hear(snapshot)

    async def _listen(self, pubsub: "PubSub") -> None:
        while True:
            message: dict[str, Any] | None = await pubsub.get_message(timeout=None)
            self._heard_at = asyncio.get_running_loop().time()
            if message is None:
                continue
            intent_id = self._intent(message["channel"].decode())
            if not intent_id:
                continue
            if message["type"] == "subscribe":
                self._subscribed.add(intent_id)
                self._awaiting_stored.add(intent_id)
                self._wakeup.set()
            elif message["type"] == "message" and not message["data"].startswith(self._process_id):
                text = message["data"][len(self._process_id) :]
                member, snapshot = self._members.get(intent_id), self._read(intent_id, text)
                if member and snapshot:
                    member.hear(snapshot)

    async def _release_leases(self, intent_ids: Iterable[str]) -> None:
        released = list(intent_ids)
        if released:
            await self._release([self._lease(intent_id) for intent_id in released], [self._process_id])
            self._leading.difference_update(released)

    def _read(self, intent_id: str, signed: bytes | str | None) -> Snapshot | None:
        """Return a snapshot, or None if it is unsigned or invalid.

        No message in Redis may end the task that reads it.
        """
        if not signed:
            return None
        signed = signed if isinstance(signed, str) else signed.decode("ascii", "replace")
        text = self._signed.unsign(signed, place=intent_id)
        if text is None:
            log.warning("Ignored a snapshot in Redis that is not signed with this SECRET_KEY")
            return None
        try:
            snapshot = Snapshot.from_text(text, self._names)
            if snapshot.intent_id != intent_id:
                raise ValueError("it is of another intent")
        except Exception as error:
            metrics.shared_unreadable.inc()
            log.warning(
                "Can't read a snapshot in Redis (%s); another version of the dashboard may have written it",
                type(error).__name__,
            )
            return None
        return snapshot

    def _lease(self, intent_id: str) -> str:
        return f"{self._prefix}lease:{intent_id}"

    def _picture(self, intent_id: str) -> str:
        return f"{self._prefix}snapshot:{intent_id}"

    def _channel(self, intent_id: str) -> str:
        """Return an intent's channel, or for "" our own channel for the heartbeat."""
        return f"{self._prefix}told:{intent_id}" if intent_id else f"{self._prefix}process:{self._process_id.decode()}"

    def _intent(self, channel: str) -> str:
        prefix = f"{self._prefix}told:"
        return channel.removeprefix(prefix) if channel.startswith(prefix) else ""


def _is_newer(snapshot: Snapshot, than: Snapshot | None) -> bool:
    if than is None or than.learned_at is None:
        return True
    return snapshot.learned_at is not None and snapshot.learned_at > than.learned_at


def _milliseconds(seconds: float) -> int:
    return round(seconds * 1000)
