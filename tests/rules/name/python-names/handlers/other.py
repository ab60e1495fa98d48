def decorated(function):
    return function


@decorated
def thing(arguments): ...
