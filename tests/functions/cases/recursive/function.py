from pydantic import BaseModel


class Comment(BaseModel):
    """A comment with its answers."""

    text: str
    answers: list["Comment"] = []


def count_comments(comment: Comment) -> int:
    """Count the answers of a comment."""
    return 1 + sum(map(count_comments, comment.answers))
