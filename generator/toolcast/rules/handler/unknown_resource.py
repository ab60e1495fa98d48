"""`handler/unknown-resource`."""

from __future__ import annotations

from collections.abc import Iterator

from ...encoders.python import is_keyword_argument
from ...facts.uri_templates import variables_of
from ...findings import Finding, Severity
from ...model.mcp.mcp_specs import PromptSpec, ResourceSpec
from ...model.model import Toolset, ToolSpec, Workspace
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
    for spec in (*toolset.tools, *toolset.mcp_specs):
        for number, name in enumerate(spec.uses):
            if name not in toolset.resources:
                yield RULE.at(
                    spec,
                    ("uses", number),
                    f"the toolset has no resource `{name}`",
                    did_you_mean(name, list(toolset.resources))
                    or "add it to `resources` of toolset.yaml, with its type",
                )
            what, is_sent = _sent(spec, name)
            if is_sent:
                yield RULE.at(
                    spec,
                    ("uses", number),
                    f"`{name}` is {what}, too: a caller could send it",
                    "give one of the two another name",
                )


def _sent(spec: ToolSpec | ResourceSpec | PromptSpec, name: str) -> tuple[str, bool]:
    """What callers send, and whether something of that is called so."""
    if isinstance(spec, ToolSpec):
        declared = spec.schemas["parameters"].declared
        return "a parameter of the tool", not declared.lacks([name])
    if isinstance(spec, ResourceSpec):
        variables = variables_of(spec.uri_template or "")
        return "a variable of the URI", name in variables
    arguments = {one.name for one in spec.arguments}
    return "an argument of the prompt", name in arguments


RULE = Rule(
    id="handler/unknown-resource",
    severity=Severity.ERROR,
    purpose="Checks that what specs use are resources, and nothing that callers send.",
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
