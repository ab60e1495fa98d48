"""What reading YAML itself finds, for the catalogue; `reading/yaml_reader.py` is its code."""

from __future__ import annotations

from ...findings import Severity
from ..rule import Rule

__all__ = ["RULES"]

RULES = (
    Rule(
        id="yaml/syntax",
        severity=Severity.ERROR,
        purpose="Checks that the file is YAML.",
        why="Nothing can be read from a file that is not.",
        bad="""\
title: "Notes
""",
        good="""\
title: "Notes"
""",
    ),
    Rule(
        id="yaml/ambiguous",
        severity=Severity.ERROR,
        purpose="Checks that every unquoted word means the same to all YAML readers.",
        why=(
            "YAML 1.1 reads `no` as false, `010` as eight and `12:30` as 750; YAML 1.2"
            " does not. A country code became a boolean in an output, and nobody saw it"
            " in the spec."
        ),
        bad="""\
since: 2026-01-31
""",
        good="""\
since: "2026-01-31"
""",
    ),
    Rule(
        id="yaml/anchor",
        severity=Severity.ERROR,
        purpose="Checks that there are no anchors, aliases and merge keys.",
        why=(
            "Nine lines of aliases unfold to gigabytes, and what a reviewer sees is not"
            " what is read."
        ),
        bad="""\
title: &name Notes
description: *name
""",
        good="""\
title: Notes
description: Notes
""",
    ),
    Rule(
        id="yaml/tag",
        severity=Severity.ERROR,
        purpose="Checks that there are no tags.",
        why=(
            "In some readers a tag runs code. A spec holds text, numbers, lists and"
            " mappings."
        ),
        bad="""\
title: !!python/name:os.system Notes
""",
        good="""\
title: Notes
""",
    ),
    Rule(
        id="yaml/duplicate-key",
        severity=Severity.ERROR,
        purpose="Checks that no key stands twice in a mapping.",
        why="Most readers keep the last one and lose the first in silence.",
        bad="""\
title: Notes
title: Other notes
""",
        good="""\
title: Notes
""",
    ),
    Rule(
        id="yaml/key",
        severity=Severity.ERROR,
        purpose="Checks that every key is text.",
        why=(
            "JSON has no other keys, and readers turn `1` and `true` into different"
            " texts."
        ),
        bad="""\
parameters:
  type: object
  properties: {1: {type: string}}
""",
        good="""\
parameters:
  type: object
  properties: {"1": {type: string}}
""",
    ),
    Rule(
        id="yaml/documents",
        severity=Severity.ERROR,
        purpose="Checks that a file has one document.",
        why="Readers take the first, the last or none of several.",
        bad="""\
title: Notes
---
title: Other notes
""",
        good="""\
title: Notes
""",
    ),
    Rule(
        id="yaml/directive",
        severity=Severity.ERROR,
        purpose="Checks that there are no YAML directives.",
        why="They change how the rest of the file is read.",
        bad="",
        good="""\
title: Notes
""",
    ),
    Rule(
        id="yaml/empty",
        severity=Severity.ERROR,
        purpose="Checks that the file is not empty.",
        why="An empty file is a tool that somebody believes to be there.",
        bad="",
        good="""\
title: Notes
""",
    ),
    Rule(
        id="yaml/encoding",
        severity=Severity.ERROR,
        purpose="Checks that the file is UTF-8.",
        why="In any other encoding the same bytes are another text elsewhere.",
        bad="",
        good="""\
title: Notizen für später
""",
    ),
    Rule(
        id="yaml/forbidden-character",
        severity=Severity.ERROR,
        purpose="Checks that there are no control and bidirectional characters.",
        why=(
            "They make a text look different from what it is, to reviewers and in"
            " terminals (CVE-2021-42574)."
        ),
        bad="""\
description: "Stores a note.\\u202E"
""",
        good="""\
description: Stores a note.
""",
    ),
    Rule(
        id="yaml/invisible-character",
        severity=Severity.WARNING,
        purpose="Checks that there are no invisible characters.",
        why=(
            "Models read them and people do not: an instruction can be hidden in a"
            " description."
        ),
        bad="""\
description: "Stores\\u200B a note."
""",
        good="""\
description: Stores a note.
""",
    ),
    Rule(
        id="yaml/too-deep",
        severity=Severity.ERROR,
        purpose="Checks that nothing is nested deeper than 100 levels.",
        why="Readers of deeper files run out of stack.",
        bad="",
        good="""\
title: Notes
""",
    ),
    Rule(
        id="yaml/too-large",
        severity=Severity.ERROR,
        purpose="Checks that the file has at most 2 MiB and 100,000 values.",
        why="The time for a spec has to have a bound, whoever wrote it.",
        bad="",
        good="""\
title: Notes
""",
    ),
)
