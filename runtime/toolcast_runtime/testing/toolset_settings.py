"""Settings of generated modules that decide about access, and their values in the specs."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from fnmatch import fnmatchcase
from typing import Any
from urllib.parse import quote

Comparison = tuple[str, Any, Any]
"""What is compared, the value in the generated module, and the expected one."""


def list_differing_settings(
    spec: Mapping[str, Any], toolset: Any, server: Any
) -> list[str]:
    """Describe differences of clients, external servers, the ledger and endpoints.

    Args:
        spec: the content of `toolset.yaml`.
        toolset: the runtime's toolset.
        server: the MCP server; None without the target `mcp`.
    """
    return [
        f"{subject} differs from the specs: {live!r} instead of {expected!r}"
        for subject, live, expected in _compare_settings(spec, toolset, server)
        if live != expected
    ]


def _compare_settings(
    spec: Mapping[str, Any], toolset: Any, server: Any
) -> Iterator[Comparison]:
    clients = spec.get("clients") or {}
    live_clients = toolset.declared_access.clients or {}
    yield "clients", list(live_clients), list(clients)
    for name, client in clients.items():
        live = live_clients.get(name)
        for key in ("allow", "deny"):
            entries = (client or {}).get(key) or ()
            names = getattr(live, key, None)
            yield f"clients.{name}.{key}", names, _expand_names(entries, names)
        permissions = tuple((client or {}).get("permissions") or ())
        live_permissions = getattr(live, "permissions", None)
        yield f"clients.{name}.permissions", live_permissions, permissions
    servers = {
        external.name: external
        for provider in toolset.providers
        for external in getattr(provider, "servers", ())
    }
    for name, settings in (spec.get("mcp_servers") or {}).items():
        for key, value in settings.items():
            if hasattr(servers.get(name), key):
                live = getattr(servers[name], key)
                yield f"mcp_servers.{name}.{key}", _freeze(live), _freeze(value)
    for key, value in (spec.get("ledger") or {}).items():
        yield f"ledger.{key}", getattr(toolset.ledger, key, None), value
    if server is not None and server.http is not None:
        yield from _compare_endpoints(spec, clients, server.http)


def _compare_endpoints(
    spec: Mapping[str, Any], clients: Mapping[str, Any], http: Any
) -> Iterator[Comparison]:
    options = (spec.get("targets") or {}).get("mcp") or {}
    expected = []
    for name in clients or [None]:
        client = (clients.get(name) if name else None) or {}
        path = "/mcp/"
        if name is not None and name != options.get("client"):
            path = f"/mcp/{quote(name, safe='')}/"
        variable = _build_variable(spec["name"], "TOKEN", *filter(None, [name]))
        expected.append(
            (name, client.get("path") or path, client.get("token_variable") or variable)
        )
    live = [(e.client, e.path, e.token_variable) for e in http.endpoints]
    yield "the list of endpoints", live, expected
    admin = _build_variable(spec["name"], "ADMIN_TOKEN")
    admin = (options.get("http") or {}).get("admin_token_variable") or admin
    yield "the administrator's variable", http.admin_variable, admin


def _build_variable(*parts: str) -> str:
    return re.sub(r"[^A-Z0-9]", "_", "_".join(parts).upper())


def _expand_names(entries: Any, live: Any) -> Any:
    """Return the live names if the entries of a list match all of them, else the entries.

    Sections are not resolved: an entry such as `section:search` matches every name.
    """
    if entries == "*" or not isinstance(live, tuple):
        return entries if entries == "*" else tuple(entries)
    named = [entry for entry in entries if not {"*", ":"} & {*entry}]
    patterns = ["*" if ":" in e else e for e in entries if e not in named]
    unnamed = [name for name in live if name not in named]
    is_matched = all(any(fnmatchcase(n, p) for p in patterns) for n in unnamed)
    return live if is_matched and {*named} <= {*live} else tuple(entries)


def _freeze(value: Any) -> Any:
    """Return a value with tuples for arrays, and with numbers that Python compares.

    `parse_exact_json` and the specs' loader keep numbers as `{"number": "10"}`.
    """
    if isinstance(value, Mapping):
        if value.keys() == {"number"}:
            return float(value["number"])
        return {key: _freeze(member) for key, member in value.items()}
    if isinstance(value, list | tuple):
        return tuple(map(_freeze, value))
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return float(value) if is_number else value
