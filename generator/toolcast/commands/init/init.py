"""`toolcast init`: where the parts of a project lie in a repository, and its first files."""

from __future__ import annotations

import os
import re

import click

from ... import __version__
from ...encoders.code import Code
from ...encoders.plain_text import encode_shell_word, encode_typed_word
from ...git.program import find_repository
from ...rendering.output_shape import View
from ...reports.escaping import printable
from ..exit_codes import fail, print_steps
from .existing_project import Layout, surroundings

_NOT_PACKAGES = ("__pycache__",)


_WHOLE = Layout("handlers", ".", "generated", "generated")
"""That of a project in a folder of its own."""


def _layout_in(root: str, handlers: str | None) -> Layout:
    """The layout that fits a repository: a part of the one package below `src/`, or `_WHOLE`.

    Args:
        handlers: the package that was asked for.
    """
    packages = _packages(os.path.join(root, "src"))
    if handlers is None and len(packages) == 1:
        handlers = f"{packages[0]}.agent"
    handlers = handlers or _WHOLE.handlers
    top = handlers.partition(".")[0]
    if top in packages:
        return Layout(handlers, "src", f"src/{top}/generated", f"{top}.generated")
    return _WHOLE._replace(handlers=handlers)


def _packages(folder: str) -> list[str]:
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
# Packages of the project itself, and names that Python keeps.
_TAKEN = frozenset(["generated", "handlers", "tests"])

# Each file of a new project and the template that draws it.
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
# Those that are Toolcast's own, and of them the fewest that generate.
_OWN = frozenset(["toolcast.yaml", "toolset.yaml", "count_words.yaml"])
_MINIMAL_TEMPLATES = {
    "toolcast.yaml": "toolcast.yaml",
    "specs/{name}/toolset.yaml": "small_toolset.yaml",
}
# Files that are only written where there are none.
_UNLESS_THERE = {".vscode/settings.json": "settings.json"}
_WORKFLOWS = ".github/workflows"


_BESIDE = (
    "`toolcast init FOLDER` lays it out in a folder of its own, beside what is there;"
    " `toolcast init --into FOLDER` writes only what is Toolcast's"
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
    """
    from ...rendering.renderer import render
    from ...spec_language.spec_language import render_schema
    from .scaffold import in_the_way, refuse, write_new

    root = os.path.abspath(folder)
    if deployment:
        from .deployment import write_deployment

        if into or minimal or handlers is not None:
            fail("`--deployment` cannot be combined with other options than `--name`")
        write_deployment(root, name)
        return
    toolset = _toolset_name(root, name)
    if into or minimal:
        _lay_out_own(root, toolset, handlers, into=into, minimal=minimal)
        return
    if handlers is not None:
        fail("`--handlers` goes with `--into` or `--minimal`")
    repository, below = _in_repository(root)
    view = _view(toolset, below, _WHOLE)
    files = {
        path.format(name=toolset): render(f"init/{template}.jinja", view)
        for path, template in _FILES.items()
    }
    for path, template in _UNLESS_THERE.items():
        if not os.path.lexists(os.path.join(root, path)):
            files[path] = render(f"init/{template}.jinja", view)
    files["specs/schemas/toolcast.schema.json"] = render_schema("project").encode(
        "utf-8"
    )
    number = len(files)
    files = {below + path: data for path, data in files.items()}
    workflow = f"{_WORKFLOWS}/{_workflow_name(below)}"
    files[workflow] = render("init/workflow.yml.jinja", view)
    taken = in_the_way(repository, files)
    refuse(taken, "" if taken == [workflow] else _BESIDE)
    write_new(repository, files)
    shown = os.path.relpath(root)
    here = shown == "."
    where = "this folder" if here else printable(f"{shown}/")
    if below:
        outer = os.path.relpath(os.path.join(repository, workflow))
        click.echo(f"{number} files in {where}, and {outer}")
        click.echo("GitHub runs only the workflows of the repository's own folder.")
    else:
        click.echo(f"{len(files)} files in {where}")
    steps = [] if here else [(f"cd {encode_typed_word(shown)}", "")]
    source = installed_from()
    install = f" TOOLCAST={encode_shell_word(source)}" if source else ""
    steps += [
        (
            f"make generate{install}",
            f"write generated/{toolset}/ from specs/{toolset}/",
        ),
        ("make check test types", "hold everything against the specs"),
        (".venv/bin/toolcast new NAME", "add a tool of your own"),
        (".venv/bin/toolcast dev", "serve the tools, and again after every change"),
    ]
    click.echo("\nNext:")
    width = max(len(step) for step, _ in steps) + 3
    for step, meaning in steps:
        click.echo(printable(f"  {step:{width}}{meaning}".rstrip()))
    click.echo("\nREADME.md tells the rest.")


def _lay_out_own(
    root: str, toolset: str, handlers: str | None, *, into: bool, minimal: bool
) -> None:
    """Writes what is Toolcast's alone, and tells what its surroundings need."""
    import keyword

    from ...encoders.json_text import encode_compact_json
    from ...rendering.renderer import format_python, render
    from ...spec_language.spec_language import render_schema
    from .scaffold import in_the_way, refuse, write_new

    if handlers is not None and (
        not _PACKAGE.fullmatch(handlers)
        or any(map(keyword.iskeyword, handlers.split(".")))
    ):
        fail(f"{encode_compact_json(handlers)} is not the name of a Python package")
    layout = _layout_in(root, handlers)
    view = _view(toolset, "", layout, has_schemas=not minimal)
    if minimal:
        files = {
            path.format(name=toolset): render(f"init/{template}.jinja", view)
            for path, template in _MINIMAL_TEMPLATES.items()
        }
    else:
        files = {
            path.format(name=toolset): render(f"init/{template}.jinja", view)
            for path, template in _FILES.items()
            if template in _OWN
        }
        files["specs/schemas/toolcast.schema.json"] = render_schema("project").encode()
        for path in layout.missing_packages(root):
            files[path] = render("init/handlers_package.py.jinja", view)
        stub = "init/count_words.py.jinja"
        path = f"{layout.handlers_folder}/count_words.py"
        files[path] = format_python(stub, render(stub, view))
    help_ = "`--name` gives the toolset another name, `--handlers` the package"
    taken = in_the_way(root, files)
    if "toolcast.yaml" in taken:
        help_ = "`toolcast new NAME --kind toolset` adds a toolset to the project that is there"
    refuse(taken, help_)
    write_new(root, files)
    for path in files:
        click.echo(f"wrote {path}")
    click.echo()
    extras = "mcp" if minimal else "mcp,langchain,cli"
    needed = f"toolcast-runtime[{extras}]{view.versions}"
    if into:
        click.echo(surroundings(root, layout, needed, str(view.versions)))
    server = f"{layout.output_package}.{toolset}.mcp_server"
    click.echo(f"The server is then: python -m {server}")
    if not into:
        click.echo(f'It needs "{needed}".')
    shown = os.path.relpath(root)
    steps = [] if shown == "." else [f"cd {encode_typed_word(shown)}"]
    steps += ["toolcast new NAME"] if minimal else []
    steps += ["toolcast generate", "toolcast check"]
    if not minimal:
        steps.append("toolcast new --from-function MODULE:FUNCTION, for one of yours")
    print_steps(steps)


def _in_repository(root: str) -> tuple[str, str]:
    """The folder that is written to, and the project's path below it with a slash.

    That is the repository around the project, or the project itself.
    """
    there = root
    while not os.path.isdir(there):
        there = os.path.dirname(there)
    above = find_repository(there)
    below = os.path.relpath(os.path.realpath(root), above) if above else "."
    if above is None or below == ".":
        return root, ""
    return above, below.replace(os.sep, "/") + "/"


def _workflow_name(below: str) -> str:
    """One file for each project of a repository."""
    plain = re.sub(r"[^A-Za-z0-9]+", "-", below).strip("-")
    return f"toolcast-{plain}.yml" if plain else "toolcast.yml"


def installed_from() -> str | None:
    """The checkout or the folder of wheels that this Toolcast was installed from.

    None for an index.

    The project's own environment is then set up from the same place.
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


def _toolset_name(root: str, given: str | None) -> str:
    import keyword

    if given is None:
        plain = re.sub(r"[^a-z0-9]+", "_", os.path.basename(root).lower()).strip("_")
        # pytest would take a package of such a name for tests.
        is_plain = plain[:1].isalpha() and not plain.startswith("test_")
        given = plain if is_plain else f"tools_{plain}".rstrip("_")
        given = given[:64]
        if keyword.iskeyword(given) or given in _TAKEN:
            given = f"{given}_tools"
    if not _NAME.fullmatch(given):
        fail(
            f"`{given}` is not a toolset's name: 1 to 64 of a-z 0-9 _, a letter first\n"
            "  help: `--name my_tools`"
        )
    if keyword.iskeyword(given) or given in _TAKEN:
        fail(
            f"`{given}` is taken by Python or the project\n  help: `--name {given}_tools`"
        )
    return given


def _view(
    toolset: str, below: str, layout: Layout, *, has_schemas: bool = True
) -> View:
    from ...encoders.plain_text import encode_line
    from ...encoders.python import encode_identifier
    from ...encoders.yaml_block import encode_scalar

    # The name has been checked: lower-case letters, digits and underscores.
    title = toolset.replace("_", " ").strip().capitalize()
    name = "-".join(filter(None, toolset.split("_")))
    return View(
        name=encode_identifier(toolset),
        title=encode_line(title),
        yaml_name=encode_scalar(toolset),
        yaml_title=encode_scalar(title),
        yaml_cli_heading=encode_scalar(f"{title} on the command line"),
        has_folder=bool(below),
        yaml_folder=encode_scalar(below.rstrip("/")),
        # Nothing that the project requires is called so.
        distribution=encode_line(name if name.endswith("-tools") else f"{name}-tools"),
        versions=_compatible_versions(),
        ledger_variable=encode_line(f"{toolset.upper()}_LEDGER"),
        has_schemas=has_schemas,
        handlers=encode_line(layout.handlers),
        handlers_folder=encode_line(layout.handlers_folder),
        output=encode_line(layout.output),
        has_source=layout.source != ".",
        source=encode_line(layout.source),
    )


def _compatible_versions() -> Code:
    """Those of this minor version, from this one on."""
    from ...encoders.plain_text import encode_line

    major, minor = __version__.split(".")[:2]
    return encode_line(f">={major}.{minor},<{major}.{int(minor) + 1}")
