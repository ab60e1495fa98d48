from dataclasses import dataclass


@dataclass
class Note:
    text: str


def note(arguments: Note): ...
