"""What loading specs and their suppressions finds, for the catalogue; `spec/` is its code."""

from __future__ import annotations

from ...findings import Severity
from ..rule import Rule

__all__ = ["RULES"]

RULES = (
    Rule(
        id="spec/unknown-key",
        severity=Severity.ERROR,
        purpose="Checks that every key is one of the spec language.",
        why="A misspelled key would have no effect, and nobody would notice.",
        bad="""\
desription: Stores a note.
""",
        good="""\
description: Stores a note.
""",
    ),
    Rule(
        id="spec/missing-key",
        severity=Severity.ERROR,
        purpose="Checks that no key is missing.",
        why="The smallest tool has a name, a summary and parameters.",
        bad="""\
cli: {reason: Only models call it.}
""",
        good="""\
cli: {keyword: null, reason: Only models call it.}
""",
    ),
    Rule(
        id="spec/wrong-type",
        severity=Severity.ERROR,
        purpose="Checks that every value is of the type that its key has.",
        why="A text where a list belongs would be taken apart into letters.",
        bad="""\
renamed_from: old_note
""",
        good="""\
renamed_from: [old_note]
""",
    ),
    Rule(
        id="spec/invalid-value",
        severity=Severity.ERROR,
        purpose="Checks that every value is one that its key can have.",
        why="Names and modules stand in code and paths, so they have to be well formed.",
        bad="""\
handler: notes.py
""",
        good="""\
# note.yaml
handler: notes:note
# toolset.yaml
handlers: notes
# notes.py
def note(): ...
""",
    ),
    Rule(
        id="spec/file-stem",
        severity=Severity.ERROR,
        purpose="Checks that a tool and its file have the same name.",
        why=(
            "Who looks for a tool finds it by its file, and two tools cannot have one"
            " name."
        ),
        bad="""\
# notes.yaml
name: note
""",
        good="""\
# note.yaml
name: note
""",
    ),
    Rule(
        id="spec/duplicate-tool",
        severity=Severity.ERROR,
        purpose="Checks that no two files define the same tool.",
        why="One of the two would be gone in silence.",
        bad="""\
# note.yaml
name: note
# notes.yaml
name: note
""",
        good="""\
# note.yaml
name: note
# notes.yaml
name: notes
""",
    ),
    Rule(
        id="spec/duplicate-toolset",
        severity=Severity.ERROR,
        purpose="Checks that no two toolsets have the same name.",
        why="Both would be generated into the same folder.",
        bad="""\
# toolcast.yaml
version: 1
toolsets: [specs/one, specs/two]
# specs/one/toolset.yaml
name: notes
# specs/two/toolset.yaml
name: notes
""",
        good="""\
# toolcast.yaml
version: 1
toolsets: [specs/one, specs/two]
# specs/one/toolset.yaml
name: one
# specs/two/toolset.yaml
name: two
""",
    ),
    Rule(
        id="spec/unknown-toolset",
        severity=Severity.ERROR,
        purpose="Checks that every listed toolset is there.",
        why="A toolset that is not found is one whose outputs would vanish.",
        bad="""\
# toolcast.yaml
version: 1
toolsets: [specs/note]
""",
        good="""\
# toolcast.yaml
version: 1
toolsets: [specs/notes]
# specs/notes/toolset.yaml
title: Notes
""",
    ),
    Rule(
        id="spec/missing-extension",
        severity=Severity.ERROR,
        purpose="Checks that every listed extension is installed.",
        why="Without it fields are unknown, rules do not run, and outputs would vanish.",
        bad="""\
# toolcast.yaml
version: 1
toolsets: [specs/notes]
extensions: [not-installed]
# specs/notes/toolset.yaml
title: Notes
""",
        good="""\
# toolcast.yaml
version: 1
toolsets: [specs/notes]
extensions: []
# specs/notes/toolset.yaml
title: Notes
""",
    ),
    Rule(
        id="spec/outside-project",
        severity=Severity.ERROR,
        purpose="Checks that toolcast.yaml names folders within the project only.",
        why="Nothing outside of the project is read, and nothing there is written.",
        bad="""\
# toolcast.yaml
version: 1
toolsets: [../notes]
""",
        good="""\
# toolcast.yaml
version: 1
toolsets: [specs/notes]
# specs/notes/toolset.yaml
title: Notes
""",
    ),
    Rule(
        id="spec/output-over-input",
        severity=Severity.ERROR,
        purpose="Checks that no specs, templates or handlers are in the output folder.",
        why="The generator owns its output folder: what else is in it is in its way.",
        bad="""\
# toolcast.yaml
version: 1
toolsets: [specs/notes]
output: specs
""",
        good="""\
# toolcast.yaml
version: 1
toolsets: [specs/notes]
output: generated
# specs/notes/toolset.yaml
title: Notes
""",
    ),
    Rule(
        id="spec/many-findings",
        severity=Severity.ERROR,
        purpose="Checks that a file has no more findings than can be read.",
        why=(
            "A file with thousands of problems is not what it was taken for. The first"
            " hundred are shown; the others are counted, not passed over in silence."
        ),
        bad="",
        good="",
    ),
    Rule(
        id="spec/unreadable",
        severity=Severity.ERROR,
        purpose="Checks that every spec can be read.",
        why="A spec that is passed over is a tool that is gone.",
        bad="",
        good="",
    ),
    Rule(
        id="spec/unknown-rule",
        severity=Severity.ERROR,
        purpose="Checks that suppressions name rules that exist.",
        why="A misspelled suppression suppresses nothing.",
        bad="""\
suppress: [{rule: prompt/too-long, reason: Known.}]
""",
        good="""\
title: Notes
""",
    ),
    Rule(
        id="spec/suppression-over",
        severity=Severity.WARNING,
        purpose="Checks that no suppression is past its date.",
        why="Somebody had promised to decide anew by then.",
        bad="""\
suppress: [{rule: handler/missing, reason: Comes in spring., until: "2020-04-01"}]
""",
        good="""\
suppress: [{rule: handler/missing, reason: Comes in spring., until: "2999-04-01"}]
# handler: still to be written
""",
    ),
    Rule(
        id="spec/unused-suppression",
        severity=Severity.WARNING,
        purpose="Checks that every suppression is needed.",
        why="One that nothing needs hides the next finding of its rule.",
        bad="""\
description: Stores a note.
suppress: [{rule: prompt/description-missing, reason: Comes in spring.}]
""",
        good="""\
description: null
suppress: [{rule: prompt/description-missing, reason: Comes in spring.}]
""",
    ),
)
