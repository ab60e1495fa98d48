from contextlib import contextmanager


class Database: ...


@contextmanager
def lifespan():
    yield {"db": Database()}
