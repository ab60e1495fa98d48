"""The pipeline: read, check and render a workspace in memory.

`generate` does not write. The commands differ in their use of its result: they write the
files, compare them with the disk, or print the findings.
"""

from __future__ import annotations

import datetime
import os
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from .analysis.retired_names import FileMention, find_mentions_in_outputs
from .analysis.tool_names import get_tool_names
from .findings import Finding, Location, Severity, has_errors, sort_findings
from .model.loading import load_workspace
from .model.model import Workspace
from .project import WORKSPACE_FILE
from .rules.handler import check_generated_imports
from .rules.runner import apply_suppressions, check_workspace, demote_upstream_findings

if TYPE_CHECKING:
    from .markdown_regions.regions import Document
    from .rendering.renderer import TemplateRenderError


class GenerationResult(NamedTuple):
    """The result of the pipeline.

    Attributes:
        workspace: the loaded specs; None if toolcast.yaml could not be read.
        files: the generated files by path below the output folder; empty if there are
            errors.
        findings: the sorted findings.
        documents: the Markdown files in `documents` with filled regions; empty if there are
            errors.
    """

    workspace: Workspace | None
    files: Mapping[str, bytes]
    findings: list[Finding]
    documents: Sequence[Document] = ()


class Progress:
    """Progress callbacks for a run. The base class ignores them."""

    def stage(self, label: str) -> None:
        """Report the start of a stage such as `reading`."""

    def step(self) -> None:
        """Report that one more file of the stage is done."""


_NO_PROGRESS = Progress()


def generate(
    root: str, today: datetime.date | None = None, progress: Progress = _NO_PROGRESS
) -> GenerationResult:
    """Read, check and render the workspace at `root`.

    Args:
        root: the folder of toolcast.yaml.
        today: the date that expiry dates are compared with; defaults to the current date.
        progress: receives the progress of the run.
    """
    progress.stage("reading")
    workspace, findings = load_workspace(root, progress.step)
    # Rules expect specs that have passed validation.
    if workspace is None or has_errors(findings):
        return GenerationResult(workspace, {}, sort_findings(findings))

    progress.stage("checking")
    day = today or datetime.date.today()
    findings += check_workspace(workspace, day)
    findings = apply_suppressions(workspace, findings, day)
    findings = sort_findings(demote_upstream_findings(workspace, findings))
    if has_errors(findings):
        return GenerationResult(workspace, {}, findings)

    # Imported here, because a check that fails earlier does not need templates.
    from .markdown_regions.regions import fill_documents
    from .rendering.output_shape import OutputShapeError
    from .rendering.renderer import TemplateRenderError
    from .targets.render_workspace import render_workspace

    progress.stage("rendering")
    try:
        files = render_workspace(workspace, progress.step)
    except TemplateRenderError as error:
        problem = _report_template_error(workspace, error)
        return GenerationResult(workspace, {}, sort_findings([*findings, problem]))
    except OutputShapeError as error:
        location = Location(WORKSPACE_FILE)
        problem = Finding(
            "target/unexpected-output", Severity.ERROR, location, str(error)
        )
        return GenerationResult(workspace, {}, sort_findings([*findings, problem]))
    for toolset in workspace.toolsets:
        removed = get_tool_names(toolset, workspace).retired
        if removed:
            mentions = find_mentions_in_outputs(
                toolset, removed, workspace.output, files
            )
            findings += [_report_retired_name(*mention) for mention in mentions]
    findings += check_generated_imports(workspace, files)
    documents, problems = fill_documents(workspace)
    findings = sort_findings([*findings, *problems])
    if has_errors(findings):
        return GenerationResult(workspace, {}, findings)
    return GenerationResult(workspace, files, findings, documents)


def _report_retired_name(mention: FileMention, help_: str) -> Finding:
    end = mention.column + len(mention.name)
    return Finding(
        "name/retired-name-used",
        Severity.WARNING,
        Location(mention.file, mention.line, mention.column, end),
        f"the output still contains the previous name `{mention.name}`",
        help_,
        mention.text,
    )


def _report_template_error(
    workspace: Workspace, failure: TemplateRenderError
) -> Finding:
    """Return the finding about a template that cannot be rendered.

    It is located in the template if the project has it, and otherwise at toolcast.yaml.
    """
    location, message = Location(WORKSPACE_FILE), str(failure)
    if failure.template and workspace.templates is not None:
        own = f"{workspace.templates}/{failure.template}"
        if os.path.lexists(os.path.join(workspace.root, own)):
            # Line 0 means the whole file, which also has column 0.
            column = min(failure.line, 1)
            location = Location(own, failure.line, column, column + 1)
            message = failure.reason
    return Finding("target/template-error", Severity.ERROR, location, message)
