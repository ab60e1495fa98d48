import functools
import logging

TWENTY = 20


class Session: ...


@functools.cache
def look_up(
    word,
    limit=TWENTY,
    near: float = TWENTY,
    *,
    db: Session | None = None,
    log=logging,
    exact: bool = 1,
    **more,
):
    return [word, near, db is None, exact]
