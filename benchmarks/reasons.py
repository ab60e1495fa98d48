"""Why a figure misses its goal, as the profile showed it; the page prints those that do."""

from __future__ import annotations

__all__ = ["REASONS"]

_COLD = (
    "A cold run of 1,000 tools writes some 6,000 files, four snapshots a tool among them, with"
    " 360,000 lines; the goal was set by a prototype with six files and 101,000 lines that had no"
    " rules and no diagnostics. Two fifths of its time go into casting, with nothing above a"
    " tenth in it (layout, templates, the check of each file's shape, JSON, the manifest), a fifth"
    " into the rules, a seventh into reading specs, an eighth into imports before that; the rest"
    " is for writing, where the disk decides. No single change would reach the goal."
    " datamodel-code-generator writes one file of models; openapi-mcp-generator writes eight files"
    " in one piece, formats nothing and checks little."
)
_LEDGER = (
    "Two commits of the ledger are a third of a generated call over HTTP: without them it takes"
    " three quarters of what a call of the low-level server takes, or less. By the clock a commit"
    " also waits for the disk's and the processor's other users, and the slowest calls are those"
    " that meet them; with two cores under load these figures differ by a fifth between runs."
)
# Words that a row's name begins with -> what was found.
REASONS: dict[str, str] = {
    "one spec of": (
        "To import PyYAML, jinja2 and jsonschema-rs takes nearly twice what `import click` takes,"
        " with the regular expressions that they make; the changed file has to be read, checked"
        " and drawn with them. Some 90 modules of our own are half as much again. That leaves little"
        " for the work: a look at each of 6,000 outputs, the manifest and the other files in which"
        " the changed tool stands among all, and what is written down for the next run. Rules"
        " that the edit does not concern are not imported, and unchanged tools are not visited."
    ),
    "cold generate, 10,000 tools: peak memory": (
        "All outputs are in memory before the first is written, so that a failure leaves the disk"
        " as it was: 12 MiB for 1,000 tools. The model of the same specs takes another 17 MiB."
        " For 10,000 tools that is about 290 MiB of the peak; what the rest holds, findings,"
        " fragments and what is written down for the next run, has not been taken apart."
    ),
    "no-op generate, 10,000 tools": (
        "Nearly all of the run is asking the operating system how each of 70,000 files looks,"
        " specs and outputs, at two microseconds each: three times the import of click by itself."
        " From 20,000 files on two processes share the questions, which shows by the clock and"
        " not in processor time. To ask for fewer files than there are would miss edits by hand."
    ),
    "import of a registry": (
        "The interpreter's start is nearly all of the other side; `typing`, `re` and `enum`,"
        " which the runtime imports, are most of the difference."
    ),
    "the same with black": (
        "Without black a run still does all that a cold run does, and black formats only the"
        " third of its lines that is Python, and finds nothing to change, which is its quick"
        " case. See the cold run above for where the rest goes."
    ),
    "calls over HTTP": _LEDGER,
    "99 of 100 calls over HTTP": _LEDGER,
    "datamodel-code-generator": _COLD,
    "openapi-python-client": _COLD,
    "openapi-generator": _COLD,
    "cold generate, 1,000 tools / openapi-mcp-generator": _COLD,
}
