def greet(name: str, loud: bool = False) -> str:
    """Greet somebody.

    :param name: Whom to greet.
    :param loud: Whether in capitals.
    :returns: The greeting.
    """
    return f"Hello {name}".upper() if loud else f"Hello {name}"
