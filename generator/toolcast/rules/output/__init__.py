"""What comparing outputs with the disk finds, for the catalogue; `output/diagnosis.py` is its code."""

from __future__ import annotations

from ...findings import Severity
from ..rule import Rule

__all__ = ["RULES"]

RULES = (
    Rule(
        id="output/missing",
        severity=Severity.ERROR,
        purpose="Checks that every output is there.",
        why="Whoever imports it fails.",
        bad="",
        good="",
    ),
    Rule(
        id="output/differs",
        severity=Severity.ERROR,
        purpose="Checks that every output is exactly what the specs give.",
        why=(
            "A spec was changed and `toolcast generate` was not run, or an output was"
            " edited by hand. Such an edit belongs in a spec, a handler or a template:"
            " the next run would lose it."
        ),
        bad="",
        good="",
    ),
    Rule(
        id="output/orphaned",
        severity=Severity.ERROR,
        purpose="Checks that no output is left of a spec that is gone.",
        why="A tool that was removed would still be importable.",
        bad="",
        good="",
    ),
    Rule(
        id="output/foreign",
        severity=Severity.ERROR,
        purpose="Checks that the output folder holds nothing but outputs.",
        why=(
            "The generator owns the folder and must not take away what is somebody"
            " else's."
        ),
        bad="",
        good="",
    ),
    Rule(
        id="output/link",
        severity=Severity.ERROR,
        purpose="Checks that no output is a symbolic link.",
        why="Writing through a link would change a file somewhere else.",
        bad="",
        good="",
    ),
    Rule(
        id="output/region",
        severity=Severity.ERROR,
        purpose="Checks that the regions of documents are what the specs give.",
        why=(
            "A spec was changed and `toolcast generate` was not run, or somebody wrote between"
            " the marks: that is lost with the next run."
        ),
        bad="",
        good="",
    ),
    Rule(
        id="output/marker",
        severity=Severity.ERROR,
        purpose="Checks that the marks of a document's regions say what there is.",
        why=(
            "A mark that is misspelled, or that nothing closes, would leave the region as it"
            " is, or take what follows for a part of it."
        ),
        bad="",
        good="",
    ),
    Rule(
        id="output/former-name",
        severity=Severity.WARNING,
        purpose="Checks that no output says a former or reserved name.",
        why=(
            "Specs are held to it, and a template of the project, a target of others or"
            " the data of an example may still say one."
        ),
        bad="",
        good="",
    ),
    Rule(
        id="target/shape",
        severity=Severity.ERROR,
        purpose="Checks that every output is what its target declared before it was drawn.",
        why=(
            "A target of an extension, or a template of the project, that imports, calls or"
            " heads anything else could let a text of a spec become code, or write outside"
            " of its toolset's folder."
        ),
        bad="",
        good="",
    ),
    Rule(
        id="target/template",
        severity=Severity.ERROR,
        purpose="Checks that every template can be rendered.",
        why=(
            "A template of the project that prints text which no encoder has made is"
            " refused: that is how text becomes code."
        ),
        bad="",
        good="",
    ),
)
