"""The file with which an administrator changes what clients may have.

    {"copilot": {"allow": ["github_issue"]}, "external": {"restrict": ["memory"]}}

`allow` (names or "*") replaces the client's own list, `restrict` adds to it. Strict: what
cannot be meant is refused as a whole, and then nobody has any tool. YAML needs `pyyaml`,
imported when the file's name ends in `.yaml` or `.yml`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from .access import Access, AccessError, Override
from .safe_file import read_regular

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

_MAX_FILE_BYTES = 1024 * 1024
"""Size of an override file."""
_KEYS = ("allow", "restrict")


@dataclass(frozen=True, slots=True)
class OverrideFile:
    """Where the file is.

    Attributes:
        variable: the environment variable that names it before all else.
        path: the file, relative to the working directory; None when only the variable
            can name one.
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
        """What clients may have with the file's changes; unchanged when none is named.

        Args:
            access: what the toolset says.
            resolve: the present name of a tool, by a former one.
            is_known: whether there is, or may come to be, a tool of a present name.
            environment: default: the process's.

        Raises:
            AccessError: the file cannot be read, is not what it must be, names what there
                is not, or gives what it must not give. The text has every problem.
        """
        import os

        given = os.environ if environment is None else environment
        path = given.get(self.variable, "").strip() or self.path
        if not path:
            return access
        value = _read(path)
        problems = list(_problems(value, access, resolve, is_known))
        if problems:
            lines = "".join(f"\n- {problem}" for problem in problems)
            raise AccessError(f"{path} cannot be applied:{lines}")
        overrides = {name: _override(entry) for name, entry in value.items()}
        return Access(
            access.clients, access.tool_clients, access.tool_permissions, overrides
        )


def _read(path: str) -> Any:
    try:
        data = read_regular(path, _MAX_FILE_BYTES + 1)
    except OSError as error:
        why = error.strerror or type(error).__name__
        raise AccessError(f"{path} cannot be read: {why}") from None
    if len(data) > _MAX_FILE_BYTES:
        raise AccessError(f"{path} is larger than {_MAX_FILE_BYTES} bytes")
    try:
        text = data.decode("utf-8")
        return _yaml(text) if path.endswith((".yaml", ".yml")) else _json(text)
    except AccessError as error:
        raise AccessError(f"{path}: {error}") from None
    except (ValueError, RecursionError) as error:
        raise AccessError(f"{path} is not well formed: {error}") from None


def _json(text: str) -> Any:
    import json

    return json.loads(text, object_pairs_hook=_unique)


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    value = dict(pairs)
    if len(value) < len(pairs):
        keys = [key for key, _ in pairs]
        twice = next(key for key in keys if keys.count(key) > 1)
        raise AccessError(f"`{twice}` stands twice in one mapping")
    return value


def _yaml(text: str) -> Any:
    try:
        import yaml
    except ImportError:
        raise AccessError(
            "reading YAML needs the package pyyaml; install it, or write JSON"
        ) from None

    class Strict(yaml.SafeLoader):
        def compose_node(self, parent: Any, index: Any) -> Any:
            if self.check_event(yaml.AliasEvent):
                raise AccessError("aliases are not read")
            return super().compose_node(parent, index)

        def construct_mapping(self, node: Any, deep: bool = False) -> Any:
            pairs = self.construct_pairs(node, deep=True)
            if not all(isinstance(key, str) for key, _ in pairs):
                raise AccessError("a key is not text")
            return _unique(pairs)

    try:
        return yaml.load(text, Strict)  # noqa: S506 - it builds what SafeLoader builds
    except yaml.YAMLError as error:
        # Its text quotes the file, which need not be the one that was meant.
        mark = getattr(error, "problem_mark", None)
        where = f"line {mark.line + 1}" if mark is not None else "its first line"
        raise ValueError(f"{where} is no YAML") from None


def _problems(
    value: Any,
    access: Access,
    resolve: Callable[[str], str],
    is_known: Callable[[str], bool],
) -> Iterator[str]:
    if not isinstance(value, dict):
        yield "it must be a mapping from clients to `allow` and `restrict`"
        return
    for client, entry in value.items():
        if access.clients is None or client not in access.clients:
            yield f"the toolset has no client `{client}`"
            continue
        if not isinstance(entry, dict):
            yield f"`{client}` must be a mapping with `allow`, `restrict` or both"
            continue
        for key in entry:
            if key not in _KEYS:
                yield f"`{client}` has the key `{key}`; its keys are `allow` and `restrict`"
        for key in _KEYS:
            if key not in entry or (key == "allow" and entry[key] == "*"):
                continue
            names = entry[key]
            if not isinstance(names, list) or not all(
                isinstance(name, str) for name in names
            ):
                star = ' or "*"' if key == "allow" else ""
                yield f"`{key}` of `{client}` must be a list of names{star}"
                continue
            for name in names:
                yield from _problems_of(name, key, client, resolve, is_known)
        yield from _contradictions(client, entry, access)


def _problems_of(
    name: str,
    key: str,
    client: str,
    resolve: Callable[[str], str],
    is_known: Callable[[str], bool],
) -> Iterator[str]:
    present = resolve(name)
    if present != name:
        yield f"`{key}` of `{client}` names `{name}`, which is called `{present}` now"
    elif not is_known(name):
        yield f"`{key}` of `{client}` names `{name}`, and there is no such tool"


def _contradictions(
    client: str, entry: Mapping[str, Any], access: Access
) -> Iterator[str]:
    """What the file gives and cannot give, or gives and takes."""
    allow, restrict = entry.get("allow"), entry.get("restrict")
    own = (access.clients or {})[client]
    for name in allow if isinstance(allow, list) else ():
        if isinstance(restrict, list) and name in restrict:
            yield f"`{client}` allows and restricts `{name}`"
        elif name in own.restrict:
            yield f"`{client}` allows `{name}`, which the toolset restricts for it"
        elif client not in access.tool_clients.get(name, (client,)):
            yield f"`{client}` allows `{name}`, which is not meant for it"
        elif not access.is_permitted(own, name):
            needed = access.tool_permissions[name]
            yield f"`{client}` allows `{name}`, and lacks its permission `{needed}`"


def _override(entry: Mapping[str, Any]) -> Override:
    allow = entry.get("allow")
    listed = tuple(allow) if isinstance(allow, list) else allow
    return Override(listed, tuple(entry.get("restrict", ())))
