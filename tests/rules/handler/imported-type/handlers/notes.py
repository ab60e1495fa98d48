from subprocess import Popen


def note(arguments):
    return arguments


def run(arguments):
    return Popen(arguments)
