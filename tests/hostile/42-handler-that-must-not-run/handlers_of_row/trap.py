from pathlib import Path

Path("trap-was-sprung").touch()


def run():
    Path("trap-was-sprung").touch()
