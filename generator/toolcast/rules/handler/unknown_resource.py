"""`handler/unknown-resource`."""

from __future__ import annotations

from collections.abc import Iterator

from ...encoders.names import is_keyword_argument
from ...findings import Finding, Severity
from ...model.model import Toolset, Workspace
from ...wording import did_you_mean
from ..rule import Rule

__all__ = ["RULE"]


def check(toolset: Toolset, workspace: Workspace) -> Iterator[Finding]:
    for name in toolset.resources:
        if not is_keyword_argument(name):
            yield RULE.at(
                toolset,
                ("resources", name),
                f"no function can have a parameter `{name}`",
                "give the resource another name",
                at_key=True,
            )
    for tool in toolset.tools:
        for number, name in enumerate(tool.uses):
            if name not in toolset.resources:
                yield RULE.at(
                    tool,
                    ("uses", number),
                    f"the toolset has no resource `{name}`",
                    did_you_mean(name, list(toolset.resources))
                    or "add it to `resources` of toolset.yaml, with its type",
                )
            if not tool.schemas["parameters"].declared.lacks([name]):
                yield RULE.at(
                    tool,
                    ("uses", number),
                    f"`{name}` is a parameter of the tool, too: a caller could send it",
                    "give the resource, or the parameter, another name",
                )


RULE = Rule(
    id="handler/unknown-resource",
    severity=Severity.ERROR,
    purpose="Checks that what tools use are resources, and no parameters of theirs.",
    why=(
        "A handler is given a resource as a keyword. If a caller could send that keyword, a"
        " model would choose the database."
    ),
    bad="""\
uses: [bd]
# toolset.yaml
handlers: handlers
lifespan: handlers.app:lifespan
resources: {db: handlers.app:Database}
targets: {registry: {}}
# handlers/app.py
from contextlib import contextmanager

class Database: ...
@contextmanager
def lifespan():
    yield {"db": Database()}
""",
    good="""\
# note.yaml
handler: handlers.app:note
uses: [db]
# toolset.yaml
handlers: handlers
lifespan: handlers.app:lifespan
resources: {db: handlers.app:Database}
targets: {registry: {}}
# handlers/app.py
from contextlib import contextmanager

class Database: ...
@contextmanager
def lifespan():
    yield {"db": Database()}
def note(*, db): ...
""",
    check=check,
    can_be_suppressed=False,
)
