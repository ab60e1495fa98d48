"""Rules of the family `target`: targets, their options and templates.

`target.md` explains each rule.
"""

from __future__ import annotations

import os
from collections.abc import Iterator

from toolcast_runtime.providers import Loss, provider_named
from toolcast_runtime.providers import Severity as LossSeverity
from toolcast_runtime.providers.provider_names import collisions

from ..analysis.provider_lists import get_provider_options, render_provider_lists
from ..findings import Location, Severity
from ..model.model import Toolset, Workspace
from ..model.python_project import PYPROJECT
from ..parsing.tree import Path
from ..suggestions import Suggestions, did_you_mean, format_quoted_list
from ..targets.package import find_problems
from ..targets.project_templates import REPLACED, list_originals, list_project_templates
from .rule import Problem, problem_at, rule
from .unknown_names import unknown_names

unknown_target = unknown_names("target/unknown", "target")
unknown_option = unknown_names("target/unknown-option", "option")


@rule("target/package", on="toolset", severity=Severity.ERROR, target="package")
def check_package(toolset: Toolset, workspace: Workspace) -> Iterator[Problem]:
    """Report missing or invalid metadata for the manifests of the target `package`.

    The metadata is in toolset.yaml and in `[project]` of pyproject.toml.
    """
    project = workspace.project
    for path, message, help_ in find_problems(toolset, project):
        # pyproject.toml is not a spec, so the problem is located by a search for the key.
        if project is not None and path[0] == PYPROJECT:
            location, line = project.locate(path[1])
            yield Problem(location, message, help_, line)
        else:
            yield problem_at(toolset, path, message, help_, at_key=len(path) > 1)


@rule(
    "target/package-command", on="toolset", severity=Severity.WARNING, target="package"
)
def check_package_command(toolset: Toolset, workspace: Workspace) -> Iterator[Problem]:
    """Report that the console script with the package's name does not start the server.

    A missing console script is reported as well.
    """
    name = workspace.project.get_text("name") if workspace.project else ""
    module = ".".join(filter(None, (workspace.package, toolset.name, "mcp_server")))
    entry_point = f"{module}:SERVER.main"
    if name and (workspace.commands or {}).get(name) != entry_point:
        message = f"MCP registry clients run `{name}`, which does not start this server"
        help_ = f'write `{name} = "{entry_point}"` in its `[project.scripts]`'
        yield problem_at(toolset, ("targets", "package"), message, help_, at_key=True)


@rule("target/provider-limit", on="toolset", severity=Severity.WARNING)
def check_provider_limits(toolset: Toolset, workspace: Workspace) -> Iterator[Problem]:
    """Report tools, rendered for a model provider, that exceed a limit of the provider.

    A limit is, for example, the number of tools or of properties in a request.
    """
    for name, tools in render_provider_lists(toolset):
        title = tools.provider.title
        for budget in tools.provider.budgets:
            for label, count in budget.counts(tools.rendered).items():
                if count > budget.maximum:
                    verb = "accepts" if budget.is_refused else "recommends"
                    message = (
                        f"there are {count:,} {label}; {title} {verb} at most"
                        f" {budget.maximum:,} ({budget.source})"
                    )
                    help_ = "split the toolset or its section, or request fewer tools at a time"
                    path = ("targets", "providers", name)
                    yield problem_at(toolset, path, message, help_, at_key=True)


@rule("target/provider-loss", on="toolset", severity=Severity.NOTE)
def check_provider_losses(toolset: Toolset, workspace: Workspace) -> Iterator[Problem]:
    """Report schema keywords that a provider's form of a tool cannot express.

    A loss in the forms of several providers is reported once. Losses of severity `NOTE` are
    not reported.
    """
    specs = {tool.name: tool for tool in toolset.tools}
    titles_by_loss: dict[Loss, list[str]] = {}
    for _, tools in render_provider_lists(toolset):
        for loss in tools.losses:
            if loss.severity is not LossSeverity.NOTE:
                titles_by_loss.setdefault(loss, []).append(tools.provider.title)
    for loss, titles in titles_by_loss.items():
        message = f"{', '.join(titles)} cannot express `{loss.keyword}`: {loss.message}"
        help_ = "rewrite the schema, or exclude the tool from the target `providers`"
        yield problem_at(specs[loss.tool], _parse_pointer(loss.path), message, help_)


def _parse_pointer(pointer: str) -> Path:
    """Return the keys and indexes of a JSON pointer (RFC 6901)."""
    # `~1` must be replaced before `~0`, so that `~01` becomes `~1` (RFC 6901, section 4).
    keys = (key.replace("~1", "/").replace("~0", "~") for key in pointer.split("/")[1:])
    return tuple(int(key) if key.isdecimal() else key for key in keys)


@rule("target/provider-names", on="toolset", severity=Severity.WARNING)
def check_provider_names(toolset: Toolset, workspace: Workspace) -> Iterator[Problem]:
    """Report tools that a provider list renames because two names would be equal.

    Providers allow only some characters in names, so different names can become equal.
    """
    specs = {tool.name: tool for tool in toolset.tools}
    for _, tools in render_provider_lists(toolset):
        names = {entry.tool.name: entry.name for entry in tools.rendered}
        for group in collisions(names, tools.provider.names):
            for name in group:
                if names[name] != name:
                    message = (
                        f"{format_quoted_list(group)} have the same name for"
                        f" {tools.provider.title}, so `{name}` is called `{names[name]}`"
                    )
                    help_ = "rename it with letters, digits, `_` and `-` only"
                    yield problem_at(specs[name], ("name",), message, help_)


@rule("target/unknown-option", on="toolset", severity=Severity.WARNING)
def check_provider_options(toolset: Toolset, workspace: Workspace) -> Iterator[Problem]:
    """Report options that a provider does not support, and unknown tools in `strict`."""
    names = {tool.name: None for tool in toolset.tools}
    suggestions = Suggestions(names)
    for provider_name, options in get_provider_options(toolset).items():
        provider = provider_named(provider_name)
        path = ("targets", "providers", provider_name)
        for option, value in options.items():
            if value and option not in provider.options:
                message = f"`{option}` has no effect for {provider.title}"
                help_ = f"remove `{option}`"
                yield problem_at(toolset, (*path, option), message, help_, at_key=True)
        strict = options.get("strict")
        for index, tool in enumerate(strict if isinstance(strict, list) else ()):
            servers = toolset.listed_servers
            is_external = any(server.declares_tool(tool) for server in servers)
            if tool not in names and not is_external:
                message = f"the tool `{tool}` does not exist"
                help_ = suggestions.near(tool) or "use the name of a tool, or remove it"
                tool_path = (*path, "strict", index)
                yield problem_at(toolset, tool_path, message, help_)


@rule("target/replaced-template", on="workspace", severity=Severity.ERROR)
def check_replaced_templates(workspace: Workspace) -> Iterator[Problem]:
    """Report project templates that replace a removed template of a whole prompt block."""
    if workspace.templates is None:
        return
    originals = list_originals(workspace)
    for template in list_project_templates(workspace, originals):
        if template.name in REPLACED and not template.is_used:
            message = (
                f"`{template.name}` renders a whole prompt block, but blocks are composed of"
                " pieces, each with a template of its own"
            )
            pieces = format_quoted_list(REPLACED[template.name])
            help_ = f"move your changes to {pieces}, and remove the file"
            file = f"{workspace.templates}/{template.name}"
            yield Problem(Location(file), message, help_)


@rule("target/unused-template", on="workspace", severity=Severity.WARNING)
def check_unused_templates(workspace: Workspace) -> Iterator[Problem]:
    """Report a missing template folder, and templates that no enabled target renders."""
    folder = workspace.templates
    if folder is None or not workspace.toolsets:
        return
    if not os.path.isdir(os.path.join(workspace.root, folder)):
        message = f"the folder `{folder}` does not exist"
        help_ = "correct the path of the folder, or remove `templates`"
        yield problem_at(workspace, ("templates",), message, help_)
        return
    originals = list_originals(workspace)
    for template in list_project_templates(workspace, originals):
        # `target/replaced-template` reports templates of whole prompt blocks.
        if template.is_used or template.name in REPLACED:
            continue
        if template.original is not None:
            targets = format_quoted_list(template.original.targets)
            message = (
                f"no toolset has the target {targets}, which renders this template"
            )
            help_ = "add the target to a toolset, or remove the file"
        else:
            message = f"no target has a template `{template.name}`"
            help_ = did_you_mean(template.name, originals) or (
                "rename the file, or remove it; `toolcast templates` lists all templates"
            )
        yield Problem(Location(f"{folder}/{template.name}"), message, help_)
