"""Specs of MCP resources and prompts: their files, bound to the model."""

from __future__ import annotations

import posixpath
from dataclasses import replace

from toolcast_runtime.core.safe_file import NotRegularFileError

from ..findings import Finding, has_errors
from ..parsing.characters import decode_text, describe_character, find_forbidden
from ..parsing.project_files import ProjectFiles
from ..parsing.tree import Document
from .binding import bind, read_document
from .spec_files import KINDS_BY_FOLDER, list_specs
from .toolset_parts import PromptSpec, ResourceSpec

MAX_RESOURCE_FILE_BYTES = 1 << 20
"""Size of a resource's file."""


def read_mcp_resources(
    files: ProjectFiles, folder: str
) -> tuple[list[ResourceSpec], list[Finding]]:
    """The resources of a toolset, ordered by their names, and what is wrong with them."""
    documents, findings = _documents(files, folder, "mcp_resources")
    specs = []
    for document in documents:
        value = document.value
        variables = value.get("variables", {}).items()
        spec = bind(
            ResourceSpec,
            value,
            variables={name: tuple(about["enum"]) for name, about in variables},
            source=document.source,
        )
        if spec.file is not None:
            content, problem = _content(files, folder, spec)
            if problem:
                finding = document.source.error("spec/unreadable", ("file",), *problem)
                findings.append(finding)
            spec = replace(spec, content=content)
        specs.append(spec)
    return specs, findings


def read_mcp_prompts(
    files: ProjectFiles, folder: str
) -> tuple[list[PromptSpec], list[Finding]]:
    """The same for its MCP prompts."""
    documents, findings = _documents(files, folder, "mcp_prompts")
    return [bind(PromptSpec, d.value, source=d.source) for d in documents], findings


def _documents(
    files: ProjectFiles, folder: str, name: str
) -> tuple[list[Document], list[Finding]]:
    below = f"{folder}/{name}"
    try:
        specs, _ = list_specs(files, below)
    except OSError:
        return [], []
    documents, findings = [], []
    first: dict[str, str] = {}
    for spec in specs:
        document, more = read_document(files, f"{below}/{spec}", KINDS_BY_FOLDER[name])
        findings += more
        if document is None or has_errors(more):
            continue
        documents.append(document)
        named = document.value["name"]
        other = first.setdefault(named.casefold(), named)
        if other != named:
            finding = document.source.error(
                "spec/file-name-mismatch",
                ("name",),
                f"`{named}` and `{other}` are one file where case does not count",
                "rename one of the two",
            )
            findings.append(finding)
        if spec != f"{named}.yaml":
            finding = document.source.error(
                "spec/file-name-mismatch",
                ("name",),
                f"the file of `{named}` is called `{posixpath.basename(spec)}`",
                f"name the file `{named}.yaml`",
            )
            findings.append(finding)
    return documents, findings


def _content(
    files: ProjectFiles, folder: str, spec: ResourceSpec
) -> tuple[bytes | None, tuple[str, str] | None]:
    """The bytes of a resource's file, or what is wrong with it and a help."""
    path = f"{folder}/{spec.file}"
    help_ = "name a file below the toolset's folder"
    try:
        if files.leads_out(path, folder):
            return None, (f"`{path}` is outside of the toolset's folder", help_)
        content = files.read(path, MAX_RESOURCE_FILE_BYTES + 1)
    except NotRegularFileError as error:
        return None, (f"`{path}`: {error.strerror}", help_)
    except OSError as error:
        reason = error.strerror or type(error).__name__
        return None, (f"`{path}` cannot be read: {reason}", help_)
    if len(content) > MAX_RESOURCE_FILE_BYTES:
        message = f"`{path}` has more than {MAX_RESOURCE_FILE_BYTES} bytes"
        return None, (message, "let a `handler` give it")
    problem = _problem_with_text(content, path, spec.mime_type)
    return (content, None) if problem is None else (None, problem)


def _problem_with_text(
    content: bytes, path: str, mime_type: str | None
) -> tuple[str, str] | None:
    """What is wrong with a text, and a help; its characters are those of specs' texts."""
    is_text = mime_type is not None and mime_type.startswith("text/")
    try:
        text = decode_text(content)
    except UnicodeDecodeError as error:
        if not is_text or "charset=" in (mime_type or ""):
            return None
        message = f"`{path}` is not UTF-8 at byte {error.start}, and is to be a text"
        return message, "save the file as UTF-8, or name its charset in `mime_type`"
    # Without a type, what holds a NUL is sent as bytes.
    if not is_text and (mime_type is not None or "\0" in text):
        return None
    bad = find_forbidden(text)
    if bad is None:
        return None
    message = (
        f"`{path}` has the character {describe_character(bad)}, which is not allowed"
    )
    return message, "remove it; no output can show it safely"
