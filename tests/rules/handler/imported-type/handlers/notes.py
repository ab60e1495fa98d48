from subprocess import Popen


def note(arguments: dict):
    return arguments


def run(arguments: dict):
    return Popen(arguments)
