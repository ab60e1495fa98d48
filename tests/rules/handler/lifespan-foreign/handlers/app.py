from contextlib import nullcontext

__all__ = ["nullcontext"]


class Database: ...
