"""`expose/oauth-setting`."""

from __future__ import annotations

from collections.abc import Iterator

from toolcast_runtime.http.oauth.oauth_settings import is_safe_url

from ...findings import Finding, Severity
from ...model.model import Toolset, Workspace
from ..rule import Rule

__all__ = ["RULE"]


def check(toolset: Toolset, workspace: Workspace) -> Iterator[Finding]:
    oauth = toolset.targets.get("mcp", {}).get("http", {}).get("oauth")
    if oauth is None:
        return
    place = ("targets", "mcp", "http", "oauth")
    for key in ("issuer", "jwks_uri"):
        if key in oauth and not is_safe_url(oauth[key]):
            yield RULE.at(
                toolset,
                (*place, key),
                f"`{key}` is no URL that can be trusted",
                "give an https URL without user, query and fragment; http is for"
                " loopback alone",
            )
    clients = {client.name for client in toolset.clients}
    known = {"clients": clients, "permissions": set(toolset.permissions)}
    opened = False
    for scope, given in oauth["scopes"].items():
        for key, names in (given or {}).items():
            for index, name in enumerate(names):
                opened |= key == "clients" and name in clients
                if name not in known[key]:
                    yield RULE.at(
                        toolset,
                        (*place, "scopes", scope, key, index),
                        f"the scope `{scope}` names `{name}`, which is none of the"
                        f" toolset's {key}",
                        f"declare it in `{key}` of toolset.yaml, or remove it",
                    )
    if clients and not opened:
        yield RULE.at(
            toolset,
            (*place, "scopes"),
            "no scope opens the endpoint of a client",
            "give one of them `clients`",
            at_key=True,
        )


RULE = Rule(
    id="expose/oauth-setting",
    severity=Severity.ERROR,
    purpose="Checks that tokens come from a server that can be trusted, and open what there is.",
    why=(
        "Keys that come over plain http can be replaced on their way, and then anybody makes"
        " tokens. A scope for a client or a permission that is misspelt gives nothing."
    ),
    bad="""\
# toolset.yaml
targets: {mcp: {http: {oauth: {issuer: "http://login.example", scopes: {notes: {}}}}}}
""",
    good="""\
# toolset.yaml
targets: {mcp: {http: {oauth: {issuer: "https://login.example", scopes: {notes: {}}}}}}
""",
    check=check,
    can_be_suppressed=False,
)
