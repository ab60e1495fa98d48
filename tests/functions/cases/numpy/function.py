from collections.abc import Sequence


async def mean(
    numbers: Sequence[float], *, digits: int | None = None, weight=1.0
) -> float:
    """
    Give the mean of some numbers.

    Parameters
    ----------
    numbers : sequence of float
        The numbers.
    digits : int, optional
        To how many digits it is rounded.
    weight : float
        What the mean is multiplied by.
    """
    return round(sum(numbers) / len(numbers) * weight, digits or 9)
