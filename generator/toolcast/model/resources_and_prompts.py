"""Read the specs of MCP resources and prompts."""

from __future__ import annotations

import posixpath
from collections.abc import Iterable
from dataclasses import replace
from typing import TypeVar

from toolcast_runtime.core.safe_file import NotRegularFileError

from ..findings import Finding, has_errors
from ..parsing.characters import decode_text, describe_character, find_forbidden
from ..parsing.project_files import ProjectFiles
from ..parsing.tree import Document
from .binding import bind, read_document
from .spec_files import KINDS_BY_FOLDER, list_specs
from .toolset_parts import Client, McpSpec, PromptSpec, ResourceSpec

MAX_RESOURCE_FILE_BYTES = 1 << 20
"""Maximum size of the file with a resource's content."""


def read_mcp_resources(
    files: ProjectFiles, folder: str
) -> tuple[list[ResourceSpec], list[Finding]]:
    """Return the MCP resources of a toolset in the order of their files, and findings."""
    documents, findings = _read_documents(files, folder, "mcp_resources")
    specs = []
    for document in documents:
        value = document.value
        variables = value.get("variables", {}).items()
        spec = bind(
            ResourceSpec,
            value,
            variables={name: tuple(variable["enum"]) for name, variable in variables},
            source=document.source,
        )
        if spec.file is not None:
            content, problem = _read_content(files, folder, spec)
            if problem:
                finding = document.source.error("spec/unreadable", ("file",), *problem)
                findings.append(finding)
            spec = replace(spec, content=content)
        specs.append(spec)
    return specs, findings


_Spec = TypeVar("_Spec", bound=McpSpec)


def resolve_clients(spec: _Spec, clients: Iterable[Client]) -> _Spec:
    """Return a resource or prompt with the clients that may use it."""
    permitted = tuple(client.name for client in clients if client.can_use(spec))
    if spec.clients is None:
        return replace(spec, clients=permitted or None)
    refused = {client.name for client in clients}.difference(permitted)
    names = tuple(name for name in spec.clients if name not in refused)
    return replace(spec, clients=names)


def read_mcp_prompts(
    files: ProjectFiles, folder: str
) -> tuple[list[PromptSpec], list[Finding]]:
    """Return the MCP prompts of a toolset in the order of their files, and findings."""
    documents, findings = _read_documents(files, folder, "mcp_prompts")
    specs = []
    for document in documents:
        spec = bind(PromptSpec, document.value, source=document.source)
        listed = [
            replace(argument, is_required_listed="required" in value)
            for argument, value in zip(
                spec.arguments, document.value.get("arguments", ()), strict=True
            )
        ]
        are_listed = "arguments" in document.value
        specs.append(
            replace(spec, arguments=tuple(listed), are_arguments_listed=are_listed)
        )
    return specs, findings


def _read_documents(
    files: ProjectFiles, folder: str, folder_name: str
) -> tuple[list[Document], list[Finding]]:
    """Return the specs without errors in a folder of a toolset, and the findings.

    A missing or unreadable folder is treated as empty.

    Args:
        files: the files of the project.
        folder: the toolset's folder.
        folder_name: a key of `KINDS_BY_FOLDER`.
    """
    spec_folder = f"{folder}/{folder_name}"
    try:
        file_names, _ = list_specs(files, spec_folder)
    except OSError:
        # The folder is optional: a toolset need not have MCP resources or prompts.
        return [], []
    documents, findings = [], []
    first_names: dict[str, str] = {}
    for file_name in file_names:
        document, problems = read_document(
            files, f"{spec_folder}/{file_name}", KINDS_BY_FOLDER[folder_name]
        )
        findings += problems
        if document is None or has_errors(problems):
            continue
        documents.append(document)
        name = document.value["name"]
        # Names that differ only in case would be one file on a case-insensitive file system.
        other_name = first_names.setdefault(name.casefold(), name)
        if other_name != name:
            finding = document.source.error(
                "spec/file-name-mismatch",
                ("name",),
                f"`{name}` and `{other_name}` are the same file name if case is ignored",
                "rename one of them",
            )
            findings.append(finding)
        if file_name != f"{name}.yaml":
            base_name = posixpath.basename(file_name)
            finding = document.source.error(
                "spec/file-name-mismatch",
                ("name",),
                f"`{name}` is in the file `{base_name}`: the names differ",
                f"rename the file to `{name}.yaml`",
            )
            findings.append(finding)
    return documents, findings


def _read_content(
    files: ProjectFiles, folder: str, spec: ResourceSpec
) -> tuple[bytes | None, tuple[str, str] | None]:
    """Return the content of a resource's file, or None with a message and a help text.

    A file outside of the toolset's folder, above the size limit, or with invalid text is a
    problem.
    """
    path = f"{folder}/{spec.file}"
    help_ = "use a readable file in the toolset's folder"
    try:
        if files.is_outside(path, folder):
            return None, (f"`{path}` is outside of the toolset's folder", help_)
        content = files.read(path, MAX_RESOURCE_FILE_BYTES + 1)
    except NotRegularFileError as error:
        return None, (f"`{path}`: {error.strerror}", help_)
    except OSError as error:
        reason = error.strerror or type(error).__name__
        return None, (f"`{path}` cannot be read: {reason}", help_)
    if len(content) > MAX_RESOURCE_FILE_BYTES:
        message = f"`{path}` has more than {MAX_RESOURCE_FILE_BYTES} bytes"
        return None, (message, "use a smaller file, or provide it by a `handler`")
    problem = _check_text(content, path, spec.mime_type)
    return (content, None) if problem is None else (None, problem)


def _check_text(
    content: bytes, path: str, mime_type: str | None
) -> tuple[str, str] | None:
    """Return a message and a help text if a resource's text is invalid, otherwise None.

    Text must be UTF-8 without the characters that are forbidden in specs. Content is text if
    its MIME type is `text/...`, or if it has no MIME type, is UTF-8 and contains no NUL. A
    `charset` in the MIME type allows other encodings.
    """
    is_text = mime_type is not None and mime_type.startswith("text/")
    try:
        text = decode_text(content)
    except UnicodeDecodeError as error:
        if not is_text or "charset=" in (mime_type or ""):
            return None
        message = f"`{path}` must be text, but byte {error.start} is not valid UTF-8"
        return message, "save the file as UTF-8, or declare its charset in `mime_type`"
    # Content with another MIME type is binary, and so is content with NUL without MIME type.
    if not is_text and (mime_type is not None or "\0" in text):
        return None
    character = find_forbidden(text)
    if character is None:
        return None
    description = describe_character(character)
    message = f"`{path}` contains the character {description}, which is not allowed"
    return message, "remove the character"
