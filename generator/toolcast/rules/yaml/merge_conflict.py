"""`yaml/merge-conflict`, found while a file is read."""

from __future__ import annotations

from ...findings import Severity
from ..rule import Rule

__all__ = ["RULE"]

RULE = Rule(
    id="yaml/merge-conflict",
    severity=Severity.ERROR,
    purpose="Checks that no merge left its marks in the file.",
    why=(
        "A merge that could not decide leaves both sides in the file, one below the other."
        " What a YAML parser says of that helps nobody."
    ),
    bad="""\
<<<<<<< HEAD
title: Notes
=======
title: Note book
>>>>>>> topic
""",
    good="""\
title: Note book
""",
)
