"""The override file: an administrator's changes to the access rules of clients.

    {"copilot": {"allow": ["github_issue"]}, "external": {"deny": ["memory"]}}

`allow` (names or "*") replaces the client's own list, and `deny` adds to its own list. A file
with any problem is rejected as a whole, and then no client may call any tool. Files that end
in `.yaml` or `.yml` need `pyyaml`, which is imported on use.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from .access import Access, AccessError, Override
from .safe_file import read_regular_file

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

_MAX_FILE_BYTES = 1024 * 1024
"""Maximum size of an override file in bytes."""
_KEYS = ("allow", "deny")


@dataclass(frozen=True, slots=True)
class OverrideFile:
    """The location of the override file.

    Attributes:
        variable: the environment variable with the file's path; it takes precedence.
        path: the path, relative to the working directory; None if only the variable can
            set one.
    """

    variable: str
    path: str | None = None

    def apply(
        self,
        access: Access,
        resolve: Callable[[str], str],
        is_known: Callable[[str], bool],
        environment: Mapping[str, str] | None = None,
    ) -> Access:
        """Return the access rules with the file's changes; unchanged if no file is set.

        Args:
            access: the access rules that the toolset declares.
            resolve: returns the current name of a tool for a current or previous name.
            is_known: returns whether a tool of a current name exists or may exist later.
            environment: the environment variables; default: those of the process.

        Raises:
            AccessError: the file cannot be read, is malformed, names an unknown client or
                tool, or grants a tool that it cannot grant. The message lists every problem.
        """
        import os

        variables = os.environ if environment is None else environment
        path = variables.get(self.variable, "").strip() or self.path
        if not path:
            return access
        value = _read_file(path)
        problems = list(_check_file(value, access, resolve, is_known))
        if problems:
            lines = "".join(f"\n- {problem}" for problem in problems)
            raise AccessError(
                f"the access overrides in {path} cannot be applied:{lines}"
            )
        overrides = {name: _build_override(entry) for name, entry in value.items()}
        return Access(
            access.clients, access.tool_clients, access.tool_permissions, overrides
        )


def _read_file(path: str) -> Any:
    try:
        # Read one byte more than the limit, to detect a larger file.
        data = read_regular_file(path, _MAX_FILE_BYTES + 1)
    except OSError as error:
        reason = error.strerror or type(error).__name__
        raise AccessError(f"{path} cannot be read: {reason}") from None
    if len(data) > _MAX_FILE_BYTES:
        raise AccessError(f"{path} is larger than {_MAX_FILE_BYTES} bytes")
    try:
        text = data.decode("utf-8")
        is_yaml = path.endswith((".yaml", ".yml"))
        return _parse_yaml(text) if is_yaml else _parse_json(text)
    except AccessError as error:
        raise AccessError(f"{path}: {error}") from None
    except (ValueError, RecursionError) as error:
        raise AccessError(f"{path} is not well formed: {error}") from None


def _parse_json(text: str) -> Any:
    import json

    return json.loads(text, object_pairs_hook=_reject_duplicate_keys)


def _reject_duplicate_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    value = dict(pairs)
    if len(value) < len(pairs):
        keys = [key for key, _ in pairs]
        duplicate = next(key for key in keys if keys.count(key) > 1)
        raise AccessError(f"an object has the key `{duplicate}` twice")
    return value


def _parse_yaml(text: str) -> Any:
    try:
        import yaml
    except ImportError:
        raise AccessError(
            "reading YAML needs the package pyyaml; install it, or write JSON"
        ) from None

    class StrictLoader(yaml.SafeLoader):
        """Loader that also rejects aliases, keys that are not strings, and duplicate keys."""

        def compose_node(self, parent: Any, index: Any) -> Any:
            if self.check_event(yaml.AliasEvent):
                raise AccessError("YAML aliases are not supported")
            return super().compose_node(parent, index)

        def construct_mapping(self, node: Any, deep: bool = False) -> Any:
            pairs = self.construct_pairs(node, deep=True)
            if not all(isinstance(key, str) for key, _ in pairs):
                raise AccessError("a key is not a string")
            return _reject_duplicate_keys(pairs)

    try:
        # `StrictLoader` is a SafeLoader, so `yaml.load` creates only plain types.
        return yaml.load(text, StrictLoader)  # noqa: S506
    except yaml.YAMLError as error:
        # Do not use PyYAML's message: it quotes the file, and a wrong path may lead to a file
        # with secrets.
        mark = getattr(error, "problem_mark", None)
        line = f"line {mark.line + 1}" if mark is not None else "the first line"
        raise ValueError(f"{line} is not valid YAML") from None


def _check_file(
    value: Any,
    access: Access,
    resolve: Callable[[str], str],
    is_known: Callable[[str], bool],
) -> Iterator[str]:
    """Yield a message for each problem of the file's content; none if it is valid."""
    if not isinstance(value, dict):
        yield "it must be an object with clients as keys"
        return
    for client, entry in value.items():
        if access.clients is None or client not in access.clients:
            yield f"the toolset has no client `{client}`"
            continue
        if not isinstance(entry, dict):
            yield f"`{client}` must be an object with `allow`, `deny` or both"
            continue
        for key in entry:
            if key not in _KEYS:
                yield f"`{client}` has the key `{key}`; its keys are `allow` and `deny`"
        for key in _KEYS:
            if key not in entry or (key == "allow" and entry[key] == "*"):
                continue
            names = entry[key]
            if not isinstance(names, list) or not all(
                isinstance(name, str) for name in names
            ):
                star = ' or "*"' if key == "allow" else ""
                yield f"`{key}` of `{client}` must be an array of names{star}"
                continue
            for name in names:
                yield from _check_name(name, key, client, resolve, is_known)
        yield from _check_contradictions(client, entry, access)


def _check_name(
    name: str,
    key: str,
    client: str,
    resolve: Callable[[str], str],
    is_known: Callable[[str], bool],
) -> Iterator[str]:
    current_name = resolve(name)
    if current_name != name:
        yield f"`{key}` of `{client}` names `{name}`, which is called `{current_name}` now"
    elif not is_known(name):
        yield f"`{key}` of `{client}` names `{name}`, and there is no such tool"


def _check_contradictions(
    client: str, entry: Mapping[str, Any], access: Access
) -> Iterator[str]:
    """Yield a message for each tool that the file allows although it stays denied."""
    allow, deny = entry.get("allow"), entry.get("deny")
    declared = (access.clients or {})[client]
    for name in allow if isinstance(allow, list) else ():
        if isinstance(deny, list) and name in deny:
            yield f"`{client}` allows and denies `{name}`"
        elif name in declared.deny:
            yield f"`{client}` allows `{name}`, which the toolset denies for it"
        elif client not in access.tool_clients.get(name, (client,)):
            yield f"`{client}` allows `{name}`, whose `clients` do not include it"
        elif not access.has_permission(declared, name):
            permission = access.tool_permissions[name]
            yield f"`{client}` allows `{name}`, but lacks its permission `{permission}`"


def _build_override(entry: Mapping[str, Any]) -> Override:
    allow = entry.get("allow")
    allowed = tuple(allow) if isinstance(allow, list) else allow
    return Override(allowed, tuple(entry.get("deny", ())))
