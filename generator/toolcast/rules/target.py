"""The rules `target/...`; `target.md` says what each is for."""

from __future__ import annotations

import os
from collections.abc import Iterator

from toolcast_runtime.providers import Loss, provider_named
from toolcast_runtime.providers import Severity as Weight
from toolcast_runtime.providers.provider_names import collisions

from ..analysis.provider_lists import get_provider_options, render_provider_lists
from ..findings import Location, Severity
from ..model.model import Toolset, Workspace
from ..model.python_project import PYPROJECT
from ..suggestions import Suggestions, did_you_mean, format_quoted_list
from ..targets.package import find_problems
from ..targets.project_templates import REPLACED, list_originals, list_project_templates
from .rule import Problem, problem_at, rule
from .unknown_names import unknown_names

unknown_target = unknown_names("target/unknown", "target")
unknown_option = unknown_names("target/unknown-option", "option")


@rule("target/package", on="toolset", severity=Severity.ERROR, target="package")
def package(toolset: Toolset, workspace: Workspace) -> Iterator[Problem]:
    project = workspace.project
    for path, message, help_ in find_problems(toolset, project):
        if project is not None and path[0] == PYPROJECT:
            place, line = project.locate(path[1])
            yield Problem(place, message, help_, line)
        else:
            yield problem_at(toolset, path, message, help_, at_key=len(path) > 1)


@rule(
    "target/package-command", on="toolset", severity=Severity.WARNING, target="package"
)
def package_command(toolset: Toolset, workspace: Workspace) -> Iterator[Problem]:
    name = workspace.project.get_text("name") if workspace.project else ""
    server = ".".join(filter(None, (workspace.package, toolset.name, "mcp_server")))
    if name and (workspace.commands or {}).get(name) != f"{server}:SERVER.main":
        message = f"clients of the registry start `{name}`, which is not this server"
        help_ = f'write `{name} = "{server}:SERVER.main"` in its `[project.scripts]`'
        yield problem_at(toolset, ("targets", "package"), message, help_, at_key=True)


@rule("target/provider-limit", on="toolset", severity=Severity.WARNING)
def provider_limit(toolset: Toolset, workspace: Workspace) -> Iterator[Problem]:
    for name, listed in render_provider_lists(toolset):
        for budget in listed.provider.budgets:
            for what, count in budget.counts(listed.rendered).items():
                if count > budget.most:
                    verb = "takes" if budget.is_refused else "advises"
                    message = (
                        f"there are {count:,} {what}; {listed.provider.title} {verb} at"
                        f" most {budget.most:,} ({budget.source})"
                    )
                    help_ = "split the toolset or its section, or ask for fewer tools at once"
                    path = ("targets", "providers", name)
                    yield problem_at(toolset, path, message, help_, at_key=True)


@rule("target/provider-loss", on="toolset", severity=Severity.NOTE)
def provider_loss(toolset: Toolset, workspace: Workspace) -> Iterator[Problem]:
    specs = {tool.name: tool for tool in toolset.tools}
    lost_for: dict[Loss, list[str]] = {}
    for _, listed in render_provider_lists(toolset):
        for loss in listed.losses:
            if loss.severity is not Weight.NOTE:
                lost_for.setdefault(loss, []).append(listed.provider.title)
    for loss, titles in lost_for.items():
        names = loss.path.split("/")[1:]
        steps = (name.replace("~1", "/").replace("~0", "~") for name in names)
        path = tuple(int(step) if step.isdecimal() else step for step in steps)
        message = f"`{loss.keyword}` is lost for {', '.join(titles)}: {loss.what}"
        help_ = "say it another way, or leave the tool out of the target `providers`"
        yield problem_at(specs[loss.tool], path, message, help_)


@rule("target/provider-names", on="toolset", severity=Severity.WARNING)
def provider_names(toolset: Toolset, workspace: Workspace) -> Iterator[Problem]:
    specs = {tool.name: tool for tool in toolset.tools}
    for _, listed in render_provider_lists(toolset):
        names = {one.tool.name: one.name for one in listed.rendered}
        for group in collisions(names, listed.provider.names):
            one = f"{format_quoted_list(group)} become one name for {listed.provider.title}"
            for name in group:
                if names[name] != name:
                    message = f"{one}; `{name}` is called `{names[name]}`"
                    help_ = "give it a name of letters, digits, `_` and `-`"
                    yield problem_at(specs[name], ("name",), message, help_)


@rule("target/unknown-option", on="toolset", severity=Severity.WARNING)
def without_effect(toolset: Toolset, workspace: Workspace) -> Iterator[Problem]:
    names = {tool.name: None for tool in toolset.tools}
    suggestions = Suggestions(names)
    for name, options in get_provider_options(toolset).items():
        provider = provider_named(name)
        path = ("targets", "providers", name)
        for option, value in options.items():
            if value and option not in provider.options:
                message = f"{provider.title} has no `{option}`"
                help_ = "leave it out: it has no effect"
                yield problem_at(toolset, (*path, option), message, help_, at_key=True)
        strict = options.get("strict")
        for index, tool in enumerate(strict if isinstance(strict, list) else ()):
            is_external = any(one.declares_tool(tool) for one in toolset.listed_servers)
            if tool not in names and not is_external:
                meant = suggestions.near(tool)
                place = (*path, "strict", index)
                yield problem_at(toolset, place, f"there is no tool `{tool}`", meant)


@rule("target/replaced-template", on="workspace", severity=Severity.ERROR)
def replaced_template(workspace: Workspace) -> Iterator[Problem]:
    if workspace.templates is None:
        return
    for own in list_project_templates(workspace, list_originals(workspace)):
        if own.name in REPLACED and not own.is_used:
            message = (
                f"`{own.name}` renders a whole prompt block, but blocks are composed of"
                " pieces, each with a template of its own"
            )
            pieces = format_quoted_list(REPLACED[own.name])
            help_ = f"move your changes to {pieces}, and remove the file"
            yield Problem(Location(f"{workspace.templates}/{own.name}"), message, help_)


@rule("target/unused-template", on="workspace", severity=Severity.WARNING)
def unused_template(workspace: Workspace) -> Iterator[Problem]:
    folder = workspace.templates
    if folder is None or not workspace.toolsets:
        return
    if not os.path.isdir(os.path.join(workspace.root, folder)):
        help_ = "name the folder, or take `templates` away"
        yield problem_at(
            workspace, ("templates",), f"there is no folder `{folder}`", help_
        )
        return
    known = list_originals(workspace)
    for own in list_project_templates(workspace, known):
        if own.is_used or own.name in REPLACED:
            continue
        if own.original is not None:
            message = (
                f"no toolset has the target {format_quoted_list(own.original.targets)},"
                " which draws this template"
            )
            help_ = "enable the target, or remove the file"
        else:
            message = f"no target has a template `{own.name}`"
            near = did_you_mean(own.name, known)
            help_ = near or "`toolcast templates` lists their names"
        yield Problem(Location(f"{folder}/{own.name}"), message, help_)
