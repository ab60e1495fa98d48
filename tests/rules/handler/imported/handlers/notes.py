from subprocess import getoutput


def note():
    return getoutput("date")
