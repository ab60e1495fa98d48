"""Write the Docker, Compose, HAProxy and systemd files of `init --deployment`."""

from __future__ import annotations

import re
from collections.abc import Iterator

import click

from ...model.endpoints import (
    EndpointPlan,
    build_variable_name,
    get_server_option,
    list_endpoints,
)
from ...model.model import Toolset, Workspace
from ...package_data import read_deployment_file
from ...reports.escaping import printable
from ..exit_codes import fail, load_workspace_or_exit, print_steps

FILES = (".dockerignore", "Dockerfile", "compose.yaml", "haproxy.cfg")
UNIT = "my_tools@.service"
"""The systemd unit. `my_tools` in the file's name and text becomes the toolset's name."""
SECRETS = (
    "secrets/token, secrets/state_key, secrets/ledger_url, secrets/database_password"
)


def write_deployment(root: str, toolset_name: str | None) -> None:
    """Write the deployment files into a project and print the next steps.

    Ends the program with exit code 2 if the project cannot be read, the toolset does not
    exist, or one of the files exists.
    """
    from .scaffold import exit_on_conflicts, find_conflicts, write_new_files

    workspace = load_workspace_or_exit(root)
    toolset = _select_toolset(workspace, toolset_name)
    # The endpoint at `/mcp/`, the default path, is used in the files.
    served = sorted(list_endpoints(toolset), key=lambda plan: plan.path != "/mcp/")
    files = dict(_render_files(workspace, toolset, served[0]))
    exit_on_conflicts(find_conflicts(workspace.root, files))
    write_new_files(workspace.root, files)
    for path in files:
        click.echo(printable(f"wrote {path}"))
    other_clients = [
        f"add a secret for the client `{plan.client}` to compose.yaml: {plan.token_variable}_FILE"
        for plan in served[1:]
    ]
    print_steps(
        [
            "add secrets/ to .gitignore",
            f"create {SECRETS}",
            *other_clients,
            "docker compose up --build --wait",
        ]
    )


def _select_toolset(workspace: Workspace, name: str | None) -> Toolset:
    names = [toolset.name for toolset in workspace.toolsets]
    if name is None and len(names) == 1:
        return workspace.toolsets[0]
    if name not in names:
        fail(
            "`--name` must be a toolset of the project\n"
            f"  help: use one of {', '.join(names)}"
        )
    return workspace.toolsets[names.index(name)]


def _render_files(
    workspace: Workspace, toolset: Toolset, endpoint: EndpointPlan
) -> Iterator[tuple[str, bytes]]:
    """Yield the path and content of each file, with the toolset's own names."""
    state_key = get_server_option(toolset, "state_key_variable")
    module = ".".join(filter(None, (workspace.package, toolset.name)))
    names = {
        "generated.my_tools": module,
        "MY_TOOLS_TOKEN": endpoint.token_variable,
        "MY_TOOLS_STATE_KEY": state_key or build_variable_name(toolset, "STATE_KEY"),
        "MY_TOOLS": build_variable_name(toolset),
        "my_tools": toolset.name,
        # Container names become host names, in which underscores are not allowed.
        "my-tools": toolset.name.replace("_", "-"),
    }
    # Replace all names in one pass: a toolset's own name may contain `my_tools`, which a second
    # pass would replace again.
    example_name = re.compile("|".join(names))
    for name in (*FILES, UNIT):
        text = read_deployment_file(name).decode("utf-8")
        text = example_name.sub(lambda match: names[match[0]], text)
        yield name.replace("my_tools", toolset.name), text.encode("utf-8")
