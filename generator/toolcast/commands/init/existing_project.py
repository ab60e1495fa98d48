"""A repository that tools come into: where their parts lie, and what it lacks for them."""

from __future__ import annotations

import os
import re
from textwrap import indent
from typing import NamedTuple

from ...static_analysis.modules import read_text

_OF_PYTEST = "[tool.pytest.ini_options]"
# In the order in which pytest takes the first.
_PYTEST = (
    ("pytest.ini", "[pytest]"),
    (".pytest.ini", "[pytest]"),
    ("pyproject.toml", _OF_PYTEST),
    ("tox.ini", "[pytest]"),
    ("setup.cfg", "[tool:pytest]"),
)


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


def format_setup_advice(root: str, layout: Layout, needed: str, versions: str) -> str:
    """What to add to the files of a repository, which are its people's own.

    What is there already, and what is for a tool that nobody uses there, is left out.

    Args:
        root: its folder.
        needed: what the outputs import.
        versions: the versions of Toolcast that fit.
    """
    file, section = _pytest_settings(root)
    project, makefile, attributes = (
        read_text(root, name) or ""
        for name in ("pyproject.toml", "Makefile", ".gitattributes")
    )
    texts = ((name, read_text(root, name)) for name in _LINTERS)
    named = "".join(f"{name}\n{text}" for name, text in texts if text is not None)
    own, output, package = "pyproject.toml", layout.output, layout.output_package
    uses = {
        word
        for word in re.findall(r"\b(?:black|ruff)\b", project + makefile + named)
        if output not in _table(project, f"tool.{word}")
    }
    builds = "setuptools" in project and f'"{package}"' not in project
    lines_lf = re.search(r"(?m)^\* .*\beol=lf\b", attributes)
    for_pytest = _for_pytest(read_text(root, file) or "", file, section, layout)
    install = (
        f'dependencies, where the tools run: "{needed}"\n'
        f'for developers and CI:             "toolcast[watch]{versions}"\n'
        f'                                   "toolcast-runtime[testing]{versions}"'
    )
    data = f'"{package}" = ["**/*.json", "**/*.md"]     # what generated modules read'
    exclude = f'force-exclude = "/{output}/"      # compared byte by byte'
    make = "tools-generate: ; toolcast generate\ntools-check:    ; toolcast check"
    commit = f"nothing: commit {output}/, in which reviewers see what agents will see"
    advice = (
        (own, "toolcast-runtime" not in project, install),
        (own, builds, f"[tool.setuptools.package-data]\n{data}"),
        (own, "black" in uses, f"[tool.black]\n{exclude}"),
        (own, "ruff" in uses, f'[tool.ruff]\nextend-exclude = ["{output}"]'),
        (file, for_pytest, "\n".join(for_pytest)),
        ("Makefile", "toolcast generate" not in makefile, make),
        ("CI", True, "toolcast check --format github"),
        (".gitignore", True, commit),
        (".gitattributes", not lines_lf, f"{output}/** text eol=lf"),
    )
    lacking: dict[str, str] = {}
    for name, is_lacking, lines in advice:
        if is_lacking:
            lacking[name] = lacking.get(name, "") + indent(f"{lines}\n", "    ")
    parts = (f"  {name}\n{lines}" for name, lines in lacking.items())
    return "\n".join(
        ["Nothing of yours was changed. Add what you need of this:\n", *parts]
    )


_LINTERS = (".pre-commit-config.yaml", "ruff.toml", ".ruff.toml", "tox.ini")
"""Where a repository names its linters beside pyproject.toml and its Makefile."""


def _table(text: str, name: str) -> str:
    """A table of a TOML or INI file as it is written, tables below it included."""
    tables = re.split(r"(?m)^(?=\[)", text)
    return "".join(one for one in tables if re.match(rf"\[{re.escape(name)}[\].]", one))


def _for_pytest(text: str, file: str, section: str, layout: Layout) -> list[str]:
    """What pytest lacks to find the generated tests, and what these import."""
    settings = _table(text, section.strip("[]"))
    lines = []
    for key, folder in (("testpaths", layout.output), ("pythonpath", layout.source)):
        given = re.search(rf"(?ms)^{key}\s*=(.*?)(?=^\S|\Z)", settings)
        listed = re.findall(r"[\w./-]+", given[1]) if given else []
        is_there = any(f"{folder}/".startswith(f"{one.rstrip('/')}/") for one in listed)
        # Without `testpaths` pytest looks everywhere.
        if not is_there and (given or key != "testpaths"):
            is_toml = file == "pyproject.toml"
            lines.append(
                f'{key} = [..., "{folder}"]' if is_toml else f"{key} = ... {folder}"
            )
    return [section, *lines] if lines else []


def _pytest_settings(root: str) -> tuple[str, str]:
    """The file that pytest reads its settings from, and their table there."""
    for file, section in _PYTEST:
        text = read_text(root, file)
        if text is not None and (file.endswith("pytest.ini") or section in text):
            return file, section
    return "pyproject.toml", _OF_PYTEST
