"""Generated code says which level of the runtime it was made for."""

from __future__ import annotations

import subprocess
import sys

import pytest

import toolcast_runtime
from toolcast_runtime import LEVEL, OLDEST_LEVEL, require_level


def test_a_level_that_is_served_passes() -> None:
    for level in range(OLDEST_LEVEL, LEVEL + 1):
        require_level(level, "generated.notes")


@pytest.mark.parametrize(
    ("level", "says"),
    [
        (LEVEL + 1, "install a newer toolcast-runtime"),
        (OLDEST_LEVEL - 1, "generate again with a newer toolcast"),
    ],
)
def test_a_level_that_is_not_served_is_one_clear_sentence(
    level: int, says: str
) -> None:
    with pytest.raises(ImportError) as refused:
        require_level(level, "generated.notes")
    text = str(refused.value)
    assert text.startswith(f"generated.notes is generated for runtime level {level}")
    assert toolcast_runtime.__version__ in text and says in text
    assert "\n" not in text


def test_importing_the_package_loads_nothing_else() -> None:
    code = (
        "import sys; before = set(sys.modules); import toolcast_runtime;"
        "print(sorted(m for m in set(sys.modules) - before if 'toolcast' in m))"
    )
    words = [sys.executable, "-c", code]
    shown = subprocess.run(words, capture_output=True, text=True, check=True).stdout
    assert shown.strip() == "['toolcast_runtime']"


def test_handlers_import_their_names_from_the_top() -> None:
    from toolcast_runtime import CallContext, ToolError, ToolResponse, current_call

    assert ToolResponse(3).success and issubclass(ToolError, Exception)
    assert CallContext("note").client is None
    with pytest.raises(LookupError):
        current_call()


def test_another_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="has no attribute 'Nothing'"):
        toolcast_runtime.Nothing  # noqa: B018
