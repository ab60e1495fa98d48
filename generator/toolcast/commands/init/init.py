"""The command `toolcast init`, which creates a project."""

from __future__ import annotations

import os
import re

import click

from ... import __version__
from ...encoders.code import Code
from ...encoders.plain_text import encode_shell_argument, encode_typed_argument
from ...git.program import find_repository
from ...rendering.output_shape import View
from ...reports.escaping import printable
from ..exit_codes import fail, print_steps
from .existing_project import Layout, format_setup_advice

_NOT_PACKAGES = ("__pycache__",)


_DEFAULT_LAYOUT = Layout("handlers", ".", "generated", "generated")
"""The layout of a new project, which is not in an existing repository."""


def _choose_layout(root: str, handlers: str | None) -> Layout:
    """Return the layout for an existing repository.

    If the handlers are in a package in `src/`, the output folder is in the same package.
    Otherwise the default layout is used, with the handlers package.

    Args:
        root: the folder of the repository.
        handlers: the value of `--handlers`. None means the subpackage `agent` of the only
            package in `src/`, or `handlers` if there is not exactly one package.
    """
    packages = _list_packages(os.path.join(root, "src"))
    if handlers is None and len(packages) == 1:
        handlers = f"{packages[0]}.agent"
    handlers = handlers or _DEFAULT_LAYOUT.handlers
    top = handlers.partition(".")[0]
    if top in packages:
        return Layout(handlers, "src", f"src/{top}/generated", f"{top}.generated")
    return _DEFAULT_LAYOUT._replace(handlers=handlers)


def _list_packages(folder: str) -> list[str]:
    """Return the names of a folder's subfolders that can be packages, sorted."""
    if not os.path.isdir(folder):
        return []
    return sorted(
        name
        for name in os.listdir(folder)
        if name.isidentifier()
        and name not in _NOT_PACKAGES
        and os.path.isdir(os.path.join(folder, name))
    )


_NAME = re.compile(r"[a-z][a-z0-9_]{0,63}")
_PACKAGE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*(\.[A-Za-z_][A-Za-z0-9_]*)*")
_RESERVED_NAMES = frozenset(["generated", "handlers", "tests"])
"""Names of a new project's packages, which cannot be the name of a toolset."""

_FILES = {
    "toolcast.yaml": "toolcast.yaml",
    "specs/{name}/toolset.yaml": "toolset.yaml",
    "specs/{name}/count_words.yaml": "count_words.yaml",
    "handlers/__init__.py": "handlers_package.py",
    "handlers/count_words.py": "count_words.py",
    "tests/test_examples.py": "test_examples.py",
    "Makefile": "Makefile",
    "pyproject.toml": "pyproject.toml",
    "README.md": "README.md",
    ".gitignore": "gitignore",
    ".gitattributes": "gitattributes",
}
"""Template of each file of a new project, by path; `{name}` is the toolset's name."""
_SPEC_TEMPLATES = frozenset(["toolcast.yaml", "toolset.yaml", "count_words.yaml"])
"""Templates of the files that Toolcast itself reads; `--into` writes only these."""
_MINIMAL_TEMPLATES = {
    "toolcast.yaml": "toolcast.yaml",
    "specs/{name}/toolset.yaml": "small_toolset.yaml",
}
"""Template of each file that `--minimal` writes, by path."""
_OPTIONAL_FILES = {".vscode/settings.json": "settings.json"}
"""Templates of files that are not written if they already exist, by path."""
_WORKFLOWS = ".github/workflows"


_HELP_EXISTING = (
    "use `toolcast init FOLDER` to create the project in a folder of its own, or `toolcast"
    " init --into FOLDER` to add only Toolcast's own files"
)


@click.command(name="init")
@click.argument("folder", default=".", type=click.Path(file_okay=False))
@click.option(
    "--name", metavar="NAME", help="Name of the toolset. Default: the folder's name."
)
@click.option(
    "--into",
    is_flag=True,
    help="Add to an existing repository without changing its files.",
)
@click.option(
    "--minimal", is_flag=True, help="Write only toolcast.yaml and one toolset.yaml."
)
@click.option(
    "--handlers",
    metavar="PACKAGE",
    help="With --into or --minimal: Python package of the handlers.",
)
@click.option(
    "--deployment",
    is_flag=True,
    help="Add Docker, Compose, HAProxy and systemd files to the project in FOLDER.",
)
def command(
    folder: str,
    name: str | None,
    into: bool,
    minimal: bool,
    handlers: str | None,
    deployment: bool,
) -> None:
    """Create a project that generates, checks and tests.

    FOLDER is created if it does not exist. If a file to write already exists, the command
    names it and writes nothing. In a subfolder of a Git repository, the workflow is written
    to the repository's own .github/workflows.

    --into writes only toolcast.yaml, specs/ and the handlers package, and prints the lines
    to add to your other files. --minimal writes no example tool and no schemas.

    --deployment adds Dockerfile, .dockerignore, compose.yaml, haproxy.cfg and a systemd unit
    for one toolset of an existing project. --name selects the toolset if there are several.

    Exit codes: 2 if nothing was written.
    """
    from ...rendering.renderer import render
    from ...spec_language.spec_language import render_schema
    from .scaffold import exit_on_conflicts, find_conflicts, write_new_files

    root = os.path.abspath(folder)
    if deployment:
        from .deployment import write_deployment

        if into or minimal or handlers is not None:
            fail("`--deployment` cannot be combined with other options than `--name`")
        write_deployment(root, name)
        return
    toolset = _choose_toolset_name(root, name)
    if into or minimal:
        _write_into_repository(root, toolset, handlers, into=into, minimal=minimal)
        return
    if handlers is not None:
        fail("`--handlers` requires `--into` or `--minimal`")
    repository, subfolder = _find_repository(root)
    view = _build_view(toolset, subfolder, _DEFAULT_LAYOUT)
    files = {
        path.format(name=toolset): render(f"init/{template}.jinja", view)
        for path, template in _FILES.items()
    }
    for path, template in _OPTIONAL_FILES.items():
        if not os.path.lexists(os.path.join(root, path)):
            files[path] = render(f"init/{template}.jinja", view)
    files["specs/schemas/toolcast.schema.json"] = render_schema("project").encode(
        "utf-8"
    )
    number = len(files)
    files = {subfolder + path: data for path, data in files.items()}
    workflow = f"{_WORKFLOWS}/{_get_workflow_name(subfolder)}"
    files[workflow] = render("init/workflow.yml.jinja", view)
    conflicts = find_conflicts(repository, files)
    # The general help suggests another folder. For a conflict of the workflow, this does not
    # help: its path does not depend on the folder.
    exit_on_conflicts(conflicts, "" if conflicts == [workflow] else _HELP_EXISTING)
    write_new_files(repository, files)
    relative_root = os.path.relpath(root)
    is_current_folder = relative_root == "."
    location = "this folder" if is_current_folder else printable(f"{relative_root}/")
    if subfolder:
        workflow_path = os.path.relpath(os.path.join(repository, workflow))
        click.echo(f"{number} files in {location}, and {workflow_path}")
        click.echo("GitHub runs only the workflows in the repository's root folder.")
    else:
        click.echo(f"{len(files)} files in {location}")
    steps: list[tuple[str, str]] = []
    if not is_current_folder:
        steps.append((f"cd {encode_typed_argument(relative_root)}", ""))
    source = find_install_source()
    install = f" TOOLCAST={encode_shell_argument(source)}" if source else ""
    steps += [
        (
            f"make generate{install}",
            f"write generated/{toolset}/ from specs/{toolset}/",
        ),
        ("make check test types", "check the outputs, run the tests and mypy"),
        (".venv/bin/toolcast new NAME", "add a tool of your own"),
        (".venv/bin/toolcast dev", "serve the tools, and reload on changes"),
    ]
    click.echo("\nNext:")
    width = max(len(step) for step, _ in steps) + 3
    for step, meaning in steps:
        click.echo(printable(f"  {step:{width}}{meaning}".rstrip()))
    click.echo("\nREADME.md describes the project.")


def _write_into_repository(
    root: str, toolset: str, handlers: str | None, *, into: bool, minimal: bool
) -> None:
    """Write only Toolcast's own files into a repository, and print the next steps.

    With `--into`, also prints the settings that the user has to add to other files. Ends the
    program with exit code 2 if a file exists or `--handlers` is invalid.
    """
    import keyword

    from ...encoders.json_text import encode_compact_json
    from ...project import list_missing_packages
    from ...rendering.renderer import format_python, render
    from ...spec_language.spec_language import render_schema
    from .scaffold import exit_on_conflicts, find_conflicts, write_new_files

    if handlers is not None and (
        not _PACKAGE.fullmatch(handlers)
        or any(map(keyword.iskeyword, handlers.split(".")))
    ):
        fail(f"{encode_compact_json(handlers)} is not the name of a Python package")
    layout = _choose_layout(root, handlers)
    view = _build_view(toolset, "", layout, has_schemas=not minimal)
    if minimal:
        files = {
            path.format(name=toolset): render(f"init/{template}.jinja", view)
            for path, template in _MINIMAL_TEMPLATES.items()
        }
    else:
        files = {
            path.format(name=toolset): render(f"init/{template}.jinja", view)
            for path, template in _FILES.items()
            if template in _SPEC_TEMPLATES
        }
        files["specs/schemas/toolcast.schema.json"] = render_schema("project").encode()
        for path in list_missing_packages(root, layout.source, layout.handlers):
            files[path] = render("init/handlers_package.py.jinja", view)
        stub = "init/count_words.py.jinja"
        path = f"{layout.handlers_folder}/count_words.py"
        files[path] = format_python(stub, render(stub, view))
    help_ = "use another toolset name (`--name`) or package (`--handlers`)"
    conflicts = find_conflicts(root, files)
    if "toolcast.yaml" in conflicts:
        help_ = "use `toolcast new NAME --kind toolset` to add a toolset to the existing project"
    exit_on_conflicts(conflicts, help_)
    write_new_files(root, files)
    for path in files:
        click.echo(f"wrote {path}")
    click.echo()
    extras = "mcp" if minimal else "mcp,langchain,cli"
    requirement = f"toolcast-runtime[{extras}]{view.versions}"
    if into:
        click.echo(format_setup_advice(root, layout, requirement, str(view.versions)))
    server = f"{layout.output_package}.{toolset}.mcp_server"
    click.echo(f"To start the generated server: python -m {server}")
    if not into:
        click.echo(f'It requires "{requirement}".')
    relative_root = os.path.relpath(root)
    steps: list[str] = []
    if relative_root != ".":
        steps.append(f"cd {encode_typed_argument(relative_root)}")
    steps += ["toolcast new NAME"] if minimal else []
    steps += ["toolcast generate", "toolcast check"]
    if not minimal:
        steps.append(
            "toolcast new --from-function MODULE:FUNCTION, to add your own tool"
        )
    print_steps(steps)


def _find_repository(root: str) -> tuple[str, str]:
    """Return the root of the git repository, and the project's path in the repository.

    The path ends with a slash. If the project is the root of the repository, or is not in a repository, returns the
    project's folder and an empty path.
    """
    existing = root
    while not os.path.isdir(existing):
        existing = os.path.dirname(existing)
    repository = find_repository(existing)
    if repository is None:
        return root, ""
    path = os.path.relpath(os.path.realpath(root), repository)
    if path == ".":
        return root, ""
    return repository, path.replace(os.sep, "/") + "/"


def _get_workflow_name(subfolder: str) -> str:
    """Return the file name of the GitHub workflow for a project in a subfolder.

    Projects in different folders of a repository have different names.
    """
    slug = re.sub(r"[^A-Za-z0-9]+", "-", subfolder).strip("-")
    return f"toolcast-{slug}.yml" if slug else "toolcast.yml"


def find_install_source() -> str | None:
    """Return the local folder from which this version of Toolcast was installed.

    The folder is a checkout or contains wheels, so that the new project can install Toolcast
    from it. None if Toolcast was installed from a package index, or the folder is missing.
    """
    import json
    from importlib.metadata import PackageNotFoundError, distribution
    from urllib.parse import urlsplit
    from urllib.request import url2pathname

    try:
        text = distribution("toolcast").read_text("direct_url.json")
    except PackageNotFoundError:
        return None
    url = urlsplit(str(json.loads(text).get("url", "")) if text else "")
    path = url2pathname(url.path) if url.scheme == "file" else ""
    if not path or not os.path.exists(path):
        return None
    return path if os.path.isdir(path) else os.path.dirname(path)


def _choose_toolset_name(root: str, name: str | None) -> str:
    """Return the value of `--name`; if it is None, derive a name from the folder's name.

    Ends the program with exit code 2 if the name is invalid or reserved.
    """
    import keyword

    if name is None:
        slug = re.sub(r"[^a-z0-9]+", "_", os.path.basename(root).lower()).strip("_")
        # pytest would collect a generated module with the prefix `test_` as tests.
        is_usable = slug[:1].isalpha() and not slug.startswith("test_")
        name = slug if is_usable else f"tools_{slug}".rstrip("_")
        name = name[:64]
        if keyword.iskeyword(name) or name in _RESERVED_NAMES:
            name = f"{name}_tools"
    if not _NAME.fullmatch(name):
        fail(
            f"`{name}` is not a valid toolset name\n"
            "  help: use 1 to 64 characters of a-z 0-9 _, the first one a letter:"
            " `--name my_tools`"
        )
    if keyword.iskeyword(name) or name in _RESERVED_NAMES:
        fail(
            f"the name `{name}` is reserved by Python or the project\n"
            f"  help: use another name: `--name {name}_tools`"
        )
    return name


def _build_view(
    toolset: str, subfolder: str, layout: Layout, *, has_schemas: bool = True
) -> View:
    from ...encoders.plain_text import encode_line
    from ...encoders.python import encode_identifier
    from ...encoders.yaml_block import encode_scalar

    # `toolset` contains only lower-case letters, digits and underscores, so the title needs no
    # other replacements.
    title = toolset.replace("_", " ").strip().capitalize()
    name = "-".join(filter(None, toolset.split("_")))
    return View(
        name=encode_identifier(toolset),
        title=encode_line(title),
        yaml_name=encode_scalar(toolset),
        yaml_title=encode_scalar(title),
        yaml_cli_heading=encode_scalar(f"{title} on the command line"),
        has_folder=bool(subfolder),
        yaml_folder=encode_scalar(subfolder.rstrip("/")),
        # The suffix prevents the project from having the name of a package that it requires.
        distribution=encode_line(name if name.endswith("-tools") else f"{name}-tools"),
        versions=_format_compatible_versions(),
        ledger_variable=encode_line(f"{toolset.upper()}_LEDGER"),
        has_schemas=has_schemas,
        handlers=encode_line(layout.handlers),
        handlers_folder=encode_line(layout.handlers_folder),
        output=encode_line(layout.output),
        has_source=layout.source != ".",
        source=encode_line(layout.source),
    )


def _format_compatible_versions() -> Code:
    """Return a version specifier such as `>=1.2,<1.3`, for Toolcast's minor version."""
    from ...encoders.plain_text import encode_line

    major, minor = __version__.split(".")[:2]
    return encode_line(f">={major}.{minor},<{major}.{int(minor) + 1}")
