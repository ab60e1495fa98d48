"""Where the parts of a project lie in a repository, and what they ask of its other files."""

from __future__ import annotations

import os
from typing import NamedTuple

from ...python_code.modules import read_text

__all__ = ["WHOLE", "Layout", "layout_in", "surroundings"]

_OF_PYTEST = "[tool.pytest.ini_options]"
# In the order in which pytest takes the first.
_PYTEST = (
    ("pytest.ini", "[pytest]"),
    (".pytest.ini", "[pytest]"),
    ("pyproject.toml", _OF_PYTEST),
    ("tox.ini", "[pytest]"),
    ("setup.cfg", "[tool:pytest]"),
)
_NOT_PACKAGES = ("__pycache__",)


class Layout(NamedTuple):
    """The folders of a project.

    Attributes:
        handlers: the package of the tools' functions.
        source: the folder in which that package is.
        output: the folder that the generator owns.
        output_package: the package that folder is.
    """

    handlers: str
    source: str
    output: str
    output_package: str

    @property
    def handlers_folder(self) -> str:
        """The folder of the handlers, below the project's."""
        folder = self.handlers.replace(".", "/")
        return folder if self.source == "." else f"{self.source}/{folder}"

    def missing_packages(self, root: str) -> list[str]:
        """The `__init__.py` of each folder on the way to the handlers that is not there."""
        steps = self.handlers_folder.split("/")
        first = 1 if self.source == "." else 2
        folders = ["/".join(steps[:n]) for n in range(first, len(steps) + 1)]
        return [
            f"{folder}/__init__.py"
            for folder in folders
            if not os.path.exists(os.path.join(root, folder))
        ]


WHOLE = Layout("handlers", ".", "generated", "generated")
"""That of a project in a folder of its own."""


def layout_in(root: str, handlers: str | None) -> Layout:
    """The layout that fits a repository: a part of the one package below `src/`, or `WHOLE`.

    Args:
        handlers: the package that was asked for.
    """
    packages = _packages(os.path.join(root, "src"))
    if handlers is None and len(packages) == 1:
        handlers = f"{packages[0]}.agent"
    handlers = handlers or WHOLE.handlers
    top = handlers.partition(".")[0]
    if top in packages:
        return Layout(handlers, "src", f"src/{top}/generated", f"{top}.generated")
    return WHOLE._replace(handlers=handlers)


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


def surroundings(root: str, layout: Layout, needed: str, versions: str) -> str:
    """What to add to the files of a repository, which are its people's own.

    Args:
        root: its folder.
        needed: what the outputs import.
        versions: the versions of Toolcast that fit.
    """
    file, section = _pytest_settings(root)
    if file == "pyproject.toml":
        of_pytest = f"""\
    {section}
    testpaths = [..., "{layout.output}"]     # the generated snapshot tests
    pythonpath = [..., "{layout.source}"]
"""
        elsewhere = ""
    else:
        of_pytest = ""
        elsewhere = f"""
  {file}
    {section}
    testpaths = ... {layout.output}
    pythonpath = ... {layout.source}
"""
    data = f"""\
    [tool.setuptools.package-data]
    "{layout.output_package}" = ["**/*.json", "**/*.md"]     # what generated modules read
"""
    if "setuptools" not in (read_text(root, "pyproject.toml") or ""):
        data = ""
    return f"""\
Nothing of yours was changed. Add what you need of this:

  pyproject.toml
    dependencies, where the tools run: "{needed}"
    for developers and CI:             "toolcast[watch]{versions}"
                                       "toolcast-runtime[testing]{versions}"
{data}{of_pytest}    [tool.black]
    force-exclude = "/{layout.output}/"      # compared byte by byte
    [tool.ruff]
    extend-exclude = ["{layout.output}"]
{elsewhere}
  Makefile
    tools-generate: ; toolcast generate
    tools-check:    ; toolcast check

  CI
    toolcast check --format github

  .gitignore
    nothing: commit {layout.output}/, in which reviewers see what agents will see

  .gitattributes
    {layout.output}/** text eol=lf
"""


def _pytest_settings(root: str) -> tuple[str, str]:
    """The file that pytest reads its settings from, and their table there."""
    for file, section in _PYTEST:
        text = read_text(root, file)
        if text is not None and (file.endswith("pytest.ini") or section in text):
            return file, section
    return "pyproject.toml", _OF_PYTEST
