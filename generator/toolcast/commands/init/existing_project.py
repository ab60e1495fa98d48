"""Layout of a project in an existing repository, and the settings that it needs."""

from __future__ import annotations

import re
from textwrap import indent
from typing import NamedTuple

from ...static_analysis.modules import read_text

_PYPROJECT_SECTION = "[tool.pytest.ini_options]"
# Files and sections with settings of pytest, in the order in which pytest searches them.
_PYTEST_FILES = (
    ("pytest.ini", "[pytest]"),
    (".pytest.ini", "[pytest]"),
    ("pyproject.toml", _PYPROJECT_SECTION),
    ("tox.ini", "[pytest]"),
    ("setup.cfg", "[tool:pytest]"),
)


class Layout(NamedTuple):
    """The packages and folders of a project, relative to its root.

    Attributes:
        handlers: the name of the handlers package.
        source: the source folder that contains the handlers package.
        output: the folder for generated files.
        output_package: the name of the package in the output folder.
    """

    handlers: str
    source: str
    output: str
    output_package: str

    @property
    def handlers_folder(self) -> str:
        """The folder of the handlers package, relative to the project's root."""
        folder = self.handlers.replace(".", "/")
        return folder if self.source == "." else f"{self.source}/{folder}"


def format_setup_advice(
    root: str, layout: Layout, requirement: str, versions: str
) -> str:
    """Return a message with the settings that the user has to add to existing files.

    Settings that already exist, and settings of linters that the repository does not use, are
    left out.

    Args:
        root: the folder of the repository.
        requirement: the requirement of the generated code, such as `toolcast-runtime[mcp]`.
        versions: the version specifier of Toolcast's packages.
    """
    pytest_file, section = _find_pytest_settings(root)
    project, makefile, attributes = (
        read_text(root, name) or ""
        for name in ("pyproject.toml", "Makefile", ".gitattributes")
    )
    linter_files = ((name, read_text(root, name)) for name in _LINTER_FILES)
    linter_text = project + makefile
    linter_text += "".join(
        f"{name}\n{text}" for name, text in linter_files if text is not None
    )
    pyproject, output, package = "pyproject.toml", layout.output, layout.output_package
    # A linter whose settings already mention the output folder needs no advice.
    linters = {
        linter
        for linter in re.findall(r"\b(?:black|ruff)\b", linter_text)
        if output not in _extract_table(project, f"tool.{linter}")
    }
    backend = re.search(r"(?m)^build-backend\s*=\s*.(\w+)", project)
    backend_name = backend[1] if backend else ""
    needs_package_data = backend_name == "setuptools" and f'"{package}"' not in project
    wheel_table = "[tool.hatch.build.targets.wheel]"
    needs_packages = backend_name == "hatchling" and layout.source == "."
    packages = {layout.handlers.partition(".")[0], package.partition(".")[0]}
    names = ", ".join(f'"{name}"' for name in sorted(packages))
    has_lf = re.search(r"(?m)^\* .*\beol=lf\b", attributes)
    pytest_text = read_text(root, pytest_file) or ""
    pytest_lines = _list_pytest_lines(pytest_text, pytest_file, section, layout)
    requirements = (
        f'dependencies, where the tools run: "{requirement}"\n'
        f'for developers and CI:             "toolcast[watch]{versions}"\n'
        f'                                   "toolcast-runtime[testing]{versions}"'
    )
    data = f'"{package}" = ["**/*.json", "**/*.md"]     # read by generated modules'
    exclude = f'force-exclude = "/{output}/"      # compared byte by byte'
    make = "tools-generate: ; toolcast generate\ntools-check:    ; toolcast check"
    commit = f"no entry: commit {output}/, so that reviewers see the changes for agents"
    advice = (
        (pyproject, "toolcast-runtime" not in project, requirements),
        (pyproject, needs_package_data, f"[tool.setuptools.package-data]\n{data}"),
        (
            pyproject,
            needs_packages,
            f"{wheel_table}\npackages = [{names}]  # and your own",
        ),
        (pyproject, "black" in linters, f"[tool.black]\n{exclude}"),
        (pyproject, "ruff" in linters, f'[tool.ruff]\nextend-exclude = ["{output}"]'),
        (pytest_file, pytest_lines, "\n".join(pytest_lines)),
        ("Makefile", "toolcast generate" not in makefile, make),
        ("CI", True, "toolcast check --format github"),
        (".gitignore", True, commit),
        (".gitattributes", not has_lf, f"{output}/** text eol=lf"),
    )
    texts: dict[str, str] = {}
    for name, is_needed, lines in advice:
        if is_needed:
            texts[name] = texts.get(name, "") + indent(f"{lines}\n", "    ")
    parts = (f"  {name}\n{text}" for name, text in texts.items())
    return "\n".join(
        ["Your files were not changed. Add the lines that you need:\n", *parts]
    )


_LINTER_FILES = (".pre-commit-config.yaml", "ruff.toml", ".ruff.toml", "tox.ini")
"""Files that name the linters of a repository, like pyproject.toml and the Makefile."""


def _extract_table(text: str, name: str) -> str:
    """Return the text of a table and its subtables in a TOML or INI file, or ""."""
    tables = re.split(r"(?m)^(?=\[)", text)
    pattern = rf"\[{re.escape(name)}[\].]"
    return "".join(table for table in tables if re.match(pattern, table))


def _list_pytest_lines(text: str, file: str, section: str, layout: Layout) -> list[str]:
    """Return the lines that let pytest find and import the generated tests.

    Empty if the existing settings are sufficient. Otherwise the section's header is first.
    """
    settings = _extract_table(text, section.strip("[]"))
    lines = []
    for key, folder in (("testpaths", layout.output), ("pythonpath", layout.source)):
        match = re.search(rf"(?ms)^{key}\s*=(.*?)(?=^\S|\Z)", settings)
        paths = re.findall(r"[\w./-]+", match[1]) if match else []
        is_included = any(
            f"{folder}/".startswith(f"{path.rstrip('/')}/") for path in paths
        )
        # Without `testpaths`, pytest searches all folders, so the setting is not needed.
        if not is_included and (match or key != "testpaths"):
            is_toml = file == "pyproject.toml"
            lines.append(
                f'{key} = [..., "{folder}"]' if is_toml else f"{key} = ... {folder}"
            )
    return [section, *lines] if lines else []


def _find_pytest_settings(root: str) -> tuple[str, str]:
    """Return the file and the section from which pytest reads its settings.

    Without such a file, pyproject.toml is returned, in which the settings can be added.
    """
    for file, section in _PYTEST_FILES:
        text = read_text(root, file)
        if text is not None and (file.endswith("pytest.ini") or section in text):
            return file, section
    return "pyproject.toml", _PYPROJECT_SECTION
