from .asking import ask


def work():
    return ask("What now?")
