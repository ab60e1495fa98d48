from typing import Literal


def search_orders(
    text: str, limit: int = 20, sort: Literal["new", "old"] = "new"
) -> list[dict[str, str]]:
    """Search the orders of a shop.

    Looks at names and notes, not at prices.

    Args:
        text: What to look for: a word, or several.
        limit (int): How many at most.
        sort: Which come first.

    Returns:
        The orders that were found, best first.
    """
    return [{"text": text, "sort": sort}] * limit
