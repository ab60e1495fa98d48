"""The whole flow: a workspace's folder to files in memory, and findings.

`generate` is a function. The commands differ only in what they do with its value: write
it, compare it with the disk, or print its findings.
"""

from __future__ import annotations

import datetime
import os
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from .analysis.former_names import Mention, former_in_outputs
from .analysis.tool_names import tool_names
from .findings import Finding, Location, Severity, has_errors, sort_findings
from .model.loading import load_workspace
from .model.model import Workspace
from .project import WORKSPACE_FILE
from .rules.handler import gone_imports
from .rules.runner import by_their_authors, check_workspace, without_suppressed

if TYPE_CHECKING:
    from .markdown_regions.regions import Document
    from .rendering.renderer import TemplateRenderError


class GenerationResult(NamedTuple):
    """What a workspace gives.

    Attributes:
        workspace: what the specs say; None when toolcast.yaml could not be read.
        files: `{path below the output folder: bytes}`; empty when there are errors.
        findings: in order.
        documents: the files of `documents:` with their regions filled; none when there are
            errors.
    """

    workspace: Workspace | None
    files: Mapping[str, bytes]
    findings: list[Finding]
    documents: Sequence[Document] = ()


class Progress:
    """Hears how far a long run has come. This one takes no notice."""

    def stage(self, words: str) -> None:
        """Another kind of work begins."""

    def step(self) -> None:
        """One file more is done."""


_UNHEARD = Progress()


def generate(
    root: str, today: datetime.date | None = None, progress: Progress = _UNHEARD
) -> GenerationResult:
    """Reads, checks and renders the workspace at `root`.

    Args:
        root: the folder of toolcast.yaml.
        today: the day that decides whether a suppression is over; default: the clock's.
        progress: hears how far the run has come.
    """
    progress.stage("reading")
    workspace, findings = load_workspace(root, progress.step)
    if workspace is None or has_errors(findings):
        return GenerationResult(workspace, {}, sort_findings(findings))

    progress.stage("checking")
    day = today or datetime.date.today()
    findings += check_workspace(workspace, day)
    findings = without_suppressed(workspace, findings, day)
    findings = sort_findings(by_their_authors(workspace, findings))
    if has_errors(findings):
        return GenerationResult(workspace, {}, findings)

    # Templates are needed only from here on, so that a check that fails stays quick.
    from .markdown_regions.regions import fill_documents
    from .rendering.output_shape import OutputShapeError
    from .rendering.renderer import TemplateRenderError
    from .targets.render_workspace import render_workspace

    progress.stage("rendering")
    try:
        files = render_workspace(workspace, progress.step)
    except TemplateRenderError as failure:
        problem = _of_template(workspace, failure)
        return GenerationResult(workspace, {}, sort_findings([*findings, problem]))
    except OutputShapeError as failure:
        place = Location(WORKSPACE_FILE)
        problem = Finding("target/shape", Severity.ERROR, place, str(failure))
        return GenerationResult(workspace, {}, sort_findings([*findings, problem]))
    for toolset in workspace.toolsets:
        removed = tool_names(toolset, workspace).removed
        if removed:
            said = former_in_outputs(toolset, removed, workspace.output, files)
            findings += [_of_former_name(mention, help_) for mention, help_ in said]
    findings += gone_imports(workspace, files)
    documents, problems = fill_documents(workspace)
    findings = sort_findings([*findings, *problems])
    if has_errors(findings):
        return GenerationResult(workspace, {}, findings)
    return GenerationResult(workspace, files, findings, documents)


def _of_former_name(mention: Mention, help_: str) -> Finding:
    end = mention.column + len(mention.name)
    return Finding(
        "name/former-alive",
        Severity.WARNING,
        Location(mention.file, mention.line, mention.column, end),
        f"the output still says `{mention.name}`",
        help_,
        mention.text,
    )


def _of_template(workspace: Workspace, failure: TemplateRenderError) -> Finding:
    """At its line where it is the project's own."""
    place, message = Location(WORKSPACE_FILE), str(failure)
    if failure.template and workspace.templates is not None:
        own = f"{workspace.templates}/{failure.template}"
        if os.path.lexists(os.path.join(workspace.root, own)):
            column = min(failure.line, 1)
            place = Location(own, failure.line, column, column + 1)
            message = failure.reason
    return Finding("target/template", Severity.ERROR, place, message)
