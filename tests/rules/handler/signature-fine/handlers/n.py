import functools

if True:

    def note(a, b=None): ...


def any_of_them(**arguments): ...


@functools.wraps(note)
def wrapped(nothing, matches): ...
