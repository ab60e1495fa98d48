"""`expose/outside`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ...facts.network_reach import outside_of
from ...findings import Finding, Severity
from ...model.model import Toolset, Workspace
from ..rule import Rule

__all__ = ["RULE"]

_LONGEST = 120
_MOST = 12
_HELP = "nothing is wrong: see that you know each of them"


def check(toolset: Toolset, workspace: Workspace) -> Iterator[Finding]:
    outside = outside_of(toolset)
    parts = [
        _listed("starts", "program", outside.programs),
        _listed("speaks to", "host", outside.hosts),
        _listed("reads", "environment variable", outside.variables),
    ]
    said = "; ".join(part for part in parts if part)
    if said:
        path = next(
            (key,)
            for key in (*_PLACES, *toolset.extensions, "clients", "targets", "name")
            if key in toolset.fields
        )
        message = f"the toolset {said}"
        yield RULE.at(toolset, path, message, _HELP, at_key=True)


_PLACES = ("mcp_servers", "router")


def _listed(verb: str, noun: str, names: Sequence[str]) -> str:
    if not names:
        return ""
    shown = [f"`{_cut(name)}`" for name in names[:_MOST]]
    more = len(names) - len(shown)
    listed = ", ".join(shown) + (f" and {more} more" if more else "")
    return f"{verb} the {noun}{'s' if len(names) > 1 else ''} {listed}"


def _cut(text: str) -> str:
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}..."


RULE = Rule(
    id="expose/outside",
    severity=Severity.NOTE,
    purpose="Checks that what a toolset reaches is seen: programs, hosts, variables.",
    why=(
        "Whoever can change toolset.yaml can let a server start any program and send to"
        " any host. One note says what there is of it, so that a review sees a new one."
    ),
    bad="""\
# toolset.yaml
mcp_servers:
  mail: {url: "https://mail.example/mcp", headers: {Authorization: "Bearer ${MAIL_TOKEN}"}}
""",
    good="""\
# toolset.yaml
mcp_servers: {}
""",
    check=check,
    can_be_suppressed=False,
)
