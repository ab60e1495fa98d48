from typing import TypedDict


class Ids(TypedDict):
    ids: list[str]


def all_notes() -> dict[str, str]: ...


def listed_notes() -> Ids: ...
