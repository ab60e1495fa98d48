def double(number: int, times: int = 2) -> int:
    """Multiply a number.

    Args:
        number: The number.
        times: By what.
    """
    return number * times
