"""Public names of packages that are imported on first use."""

from __future__ import annotations

import subprocess
import sys
import types
from importlib import import_module

import pytest

from toolcast_runtime.core.lazy_names import lazy_getattr

# Most toolsets declare external servers and a ledger, but few calls use them.
LAZY_MODULES = {
    "toolcast_runtime": "core.context",
    "toolcast_runtime.external": "external.external_tools",
    "toolcast_runtime.ledger": "ledger.records",
}
PROGRAM = """
import sys
from importlib import import_module

package = import_module({package!r})
assert not any(name.endswith({late!r}) for name in sys.modules)
for _ in range(2):
    for name in package.__all__:
        assert getattr(package, name) is not None
        exec(f"from {package} import {{name}}")
assert any(name.endswith({late!r}) for name in sys.modules)
"""


@pytest.mark.parametrize("package", LAZY_MODULES)
def test_lazy_package_public_name_imports_its_module_on_first_use(package: str) -> None:
    program = PROGRAM.format(package=package, late=f".{LAZY_MODULES[package]}")
    subprocess.run([sys.executable, "-c", program], check=True)


@pytest.mark.parametrize("package", LAZY_MODULES)
def test_unknown_name_in_a_lazy_package_raises_attribute_error(package: str) -> None:
    with pytest.raises(AttributeError, match=f"'{package}' has no attribute 'nothing'"):
        getattr(import_module(package), "nothing")  # noqa: B009 - no such attribute


def test_lazily_imported_public_name_is_not_read_from_its_module_a_second_time(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    package, module = types.ModuleType("made"), types.ModuleType("made.up")
    module.value = "first"  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "made", package)
    monkeypatch.setitem(sys.modules, "made.up", module)
    package.__getattr__ = lazy_getattr("made", {"value": ".up"})  # type: ignore[method-assign]
    assert package.value == "first"
    module.value = "second"  # type: ignore[attr-defined]
    assert package.value == "first"
