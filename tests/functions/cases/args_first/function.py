def retrieve(query: str, limit: int = 5) -> str:
    """
    Args:
        query: the search query
        limit: most results
    """
    return f"{query}{limit}"
