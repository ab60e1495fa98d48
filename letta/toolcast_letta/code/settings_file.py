"""The settings file of Letta Code: the MCP servers of each agent.

Source: `src/settings-manager.ts` of Letta Code 0.34. The file is JSON without comments.
An item of `agents` has the agent's id and its location, and `mcpServers` is its list of
servers.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from toolcast_runtime.core.safe_file import read_regular_file
from toolcast_runtime.core.safe_folder import Folder, wait_for_folder_lock

from ..plan.agent_servers import is_not_http
from ..plan.backend import BackendError
from .json_text_edits import (
    InvalidJsonError,
    append_element,
    list_elements,
    list_members,
    parse_json,
    remove_element,
    replace_element,
    set_member,
)

_CLOUD = "api.letta.com"
_LOCAL_AGENT = "agent-local-"
_MAX_FILE_BYTES = 16 * 1024 * 1024
"""The maximum size of a settings file that is read."""


class SettingsError(BackendError):
    """Settings that cannot be read or written, or have an unexpected structure."""


def get_default_path(environment: Mapping[str, str]) -> Path:
    """Return the path of Letta Code's settings file in the user's home folder."""
    home = environment.get("HOME") or str(Path.home())
    return Path(home, ".letta", "settings.json")


def resolve_home(
    agent_id: str, base_url: str | None, environment: Mapping[str, str]
) -> str | None:
    """Return an agent's location as the settings file writes it; None for the cloud.

    The location is a host with port and path, or `local:` and a folder.

    Args:
        agent_id: the agent's id.
        base_url: the URL of a server, or `local:FOLDER`. None selects the device for
            the id of a local agent, and the cloud for other ids.
        environment: the environment variables.
    """
    if base_url is None:
        if not agent_id.startswith(_LOCAL_AGENT):
            return None
        own = get_default_path(environment).with_name("lc-local-backend")
        folder = environment.get("LETTA_LOCAL_BACKEND_DIR") or str(own)
        return f"local:{os.path.abspath(folder)}"
    if base_url.startswith("local:"):
        return f"local:{os.path.abspath(base_url.removeprefix('local:'))}"
    # Letta Code identifies a server by its URL without the scheme and the last slash.
    key = re.sub("^https?://", "", base_url).removesuffix("/")
    return None if key == _CLOUD else key


@dataclass(frozen=True)
class Settings:
    """The text of a settings file.

    Attributes:
        path: the path as the user passed it; it can be a symbolic link.
        text: the file's content; `{}` if it does not exist.
        exists: whether the file exists.
    """

    path: Path
    text: str
    exists: bool

    @classmethod
    def read(cls, path: Path) -> Settings:
        """Read the file; a missing file is read as `{}`.

        Raises:
            SettingsError: the file cannot be read, is a broken symbolic link, or does
                not have the structure that Letta Code writes. With such a file, Letta
                Code itself starts with empty settings and overwrites it.
        """
        try:
            text = read_regular_file(str(path), _MAX_FILE_BYTES).decode("utf-8")
        except FileNotFoundError:
            if path.is_symlink():
                raise SettingsError(f"{path} is a broken symbolic link") from None
            return cls(path, "{}", exists=False)
        except (OSError, UnicodeDecodeError) as error:
            raise SettingsError(f"{path} cannot be read: {error}") from None
        try:
            _validate_shape(parse_json(text))
        except InvalidJsonError as error:
            raise SettingsError(f"{path}: {error}") from None
        return cls(path, text, exists=True)

    def list_homes(self, agent_id: str) -> list[str | None]:
        """Return the locations for which the file lists an agent with this id.

        None in the list stands for Letta's cloud.
        """
        agents = parse_json(self.text).get("agents") or []
        return [
            agent.get("baseUrl") or None
            for agent in agents
            if agent.get("agentId") == agent_id
        ]

    def list_servers(self, agent_id: str, home: str | None) -> list[dict[str, Any]]:
        """Return an agent's MCP servers; empty if the file does not list the agent.

        They contain secrets: never print them.
        """
        for agent in parse_json(self.text).get("agents") or []:
            if _is_agent(agent, agent_id, home):
                return list(agent.get("mcpServers") or [])
        return []

    def set_server(
        self, agent_id: str, home: str | None, server: Mapping[str, Any]
    ) -> Settings:
        """Return settings in which one server of an agent is set.

        An existing server is updated in place, a new one is appended, and a missing
        agent is added. The rest of the text is unchanged.
        """
        text = self.text
        member = next((m for m in list_members(text) if m.key == "agents"), None)
        agents = parse_json(text).get("agents")
        # `agents` can be missing or null.
        if member is None or agents is None:
            new_agents = [_build_agent(agent_id, home, server)]
            return self._replace_text(set_member(text, 0, "agents", new_agents))
        for value, agent in zip(agents, list_elements(text, member.start), strict=True):
            if _is_agent(value, agent_id, home):
                return self._replace_text(_set_server(text, agent.start, value, server))
        new_agent = _build_agent(agent_id, home, server)
        return self._replace_text(append_element(text, member.start, new_agent))

    def replace_entry(
        self,
        agent_id: str,
        home: str | None,
        name: str,
        entry: Mapping[str, Any] | None,
    ) -> Settings:
        """Return settings in which an agent's server is replaced as a whole.

        The rest of the text is unchanged, and so are all settings if the agent is not
        listed.

        Args:
            agent_id: the agent's id.
            home: the agent's location.
            name: the name of an existing server of the agent.
            entry: the new server; None to remove the server.
        """
        text = self.text
        member = next(m for m in list_members(text) if m.key == "agents")
        agents = parse_json(text)["agents"]
        for value, agent in zip(agents, list_elements(text, member.start), strict=True):
            if not _is_agent(value, agent_id, home):
                continue
            servers = next(
                m for m in list_members(text, agent.start) if m.key == "mcpServers"
            )
            names = [server.get("name") for server in value["mcpServers"]]
            index = names.index(name)
            if entry is None:
                return self._replace_text(remove_element(text, servers.start, index))
            return self._replace_text(
                replace_element(text, servers.start, index, dict(entry))
            )
        return self

    def _replace_text(self, text: str) -> Settings:
        return Settings(self.path, text, self.exists)

    def write(self, before: Settings) -> None:
        """Replace the file in one step; its permissions, owner and links are preserved.

        Args:
            before: the settings that the file must still have.

        Raises:
            SettingsError: the file has changed, or cannot be written.
        """
        # Replacing the path itself would replace a symbolic link by a file.
        target = Path(os.path.realpath(self.path))
        try:
            parent = str(target.parent)
            with (
                Folder.open_path(parent, create=True) as folder,
                wait_for_folder_lock(folder),
            ):
                if Settings.read(self.path) != before:
                    raise SettingsError(f"another program changed {self.path}")
                data = self.text.encode()
                folder.write(target.name, data, mode=0o600, durable=True)
        except OSError as error:
            raise SettingsError(f"{self.path} cannot be written: {error}") from None


def _build_agent(
    agent_id: str, home: str | None, server: Mapping[str, Any]
) -> dict[str, Any]:
    location = {} if home is None else {"baseUrl": home}
    return {"agentId": agent_id, **location, "mcpServers": [dict(server)]}


def _is_agent(agent: Mapping[str, Any], agent_id: str, home: str | None) -> bool:
    has_same_home = (agent.get("baseUrl") or None) == home
    return has_same_home and agent.get("agentId") == agent_id


def _set_server(
    text: str, start: int, agent: Mapping[str, Any], server: Mapping[str, Any]
) -> str:
    servers = agent.get("mcpServers")
    if servers is None:
        return set_member(text, start, "mcpServers", [dict(server)])
    servers_member = next(m for m in list_members(text, start) if m.key == "mcpServers")
    elements = list_elements(text, servers_member.start)
    for index, (value, element) in enumerate(zip(servers, elements, strict=True)):
        if value.get("name") == server["name"]:
            # An entry that starts a program has other keys than an HTTP entry: none of
            # them may remain.
            if is_not_http(value):
                return replace_element(text, servers_member.start, index, dict(server))
            # Each edit is after the start of the element, so the element's index
            # remains valid.
            for key, new_value in server.items():
                if value.get(key) != new_value:
                    text = set_member(text, element.start, key, new_value)
            return text
    return append_element(text, servers_member.start, dict(server))


def _validate_shape(value: Any) -> None:
    if not isinstance(value, dict):
        raise InvalidJsonError("the settings are not an object")
    agents = value.get("agents")
    if not _is_object_list(agents):
        raise InvalidJsonError("`agents` is not an array of objects")
    for agent in agents or []:
        if not _is_object_list(agent.get("mcpServers")):
            raise InvalidJsonError(
                "`mcpServers` of an agent is not an array of objects"
            )


def _is_object_list(value: Any) -> bool:
    if value is None:
        return True
    return isinstance(value, list) and all(isinstance(item, dict) for item in value)
