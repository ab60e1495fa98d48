"""Imports of the validation package, which loads no other package."""

from __future__ import annotations

import subprocess
import sys

CODE = """
import sys
import toolcast_runtime.core.validation.checker
inside = [name.split(".")[1:3] for name in sys.modules if name.startswith("toolcast_runtime.")]
print(sorted({".".join(steps) for steps in inside}), "jsonschema_rs" in sys.modules, "logging" in sys.modules)
"""


def test_importing_the_validation_package_loads_no_other_runtime_package() -> None:
    command = [sys.executable, "-c", CODE]
    output = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    assert output == "['core', 'core.lazy_names', 'core.validation'] False False\n"
