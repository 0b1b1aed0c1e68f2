"""What Redis may end in. It is loaded where it is set alone: without it a process is 6 MB smaller."""


def redis_error() -> type[Exception]:
    from redis.exceptions import RedisError

    return RedisError


def trouble() -> tuple[type[Exception], ...]:
    """With what the way to it may end in."""
    return redis_error(), OSError, TimeoutError
