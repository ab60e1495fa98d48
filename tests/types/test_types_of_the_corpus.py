"""Real tools: what their schemas let through fits the generated types.

`tests/corpus/test_generated_code_is_clean.py` has mypy's word on the same modules. One tool
of four is tried; all are with `TOOLCAST_VALUES=2`, the number of values of each schema. Lists
of your own are tried, too, `TOOLCAST_CORPUS=FOLDER`.
"""

from __future__ import annotations

import json
import os
from collections import Counter
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis.errors import Unsatisfiable
from pydantic import TypeAdapter

from tests.corpus.imported import import_lists
from tests.corpus.test_mcp_lists_exact import LISTS
from tests.mcp.projects import generate_project
from tests.types.test_types_of_schemas import loaded
from tests.types.valid_values import valid_values
from toolcast_runtime.core.definitions.tool import distinct_name, module_name
from toolcast_runtime.values.annotated_types import class_name

# A list's tools are alike, and all of them would take two minutes.
_EACH = 1 if "TOOLCAST_VALUES" in os.environ else 4
_FEW = settings(
    max_examples=int(os.environ.get("TOOLCAST_VALUES", "2")),
    deadline=None,
    database=None,
    derandomize=True,
    phases=[Phase.generate],
    suppress_health_check=list(HealthCheck),
)


@pytest.mark.slow
@pytest.mark.timeout(1800)
@pytest.mark.filterwarnings("ignore:.*using the `ReadOnly` qualifier")
def test_every_valid_value_of_a_real_tool_fits(
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    root = tmp_path_factory.mktemp("typed")
    import_lists(root, LISTS, ("registry",))
    generate_project(root)
    counted: Counter[str] = Counter()
    untried: list[str] = []
    refused: list[str] = []
    for toolset, text in LISTS.items():
        # Without the spelling of numbers, which is no business of types.
        answer = json.loads(text)
        tools = answer if isinstance(answer, list) else answer["tools"]
        for tool in tools[::_EACH]:
            name = tool["name"]
            folder = root / "generated" / toolset / "tools"
            stem = distinct_name(name)
            if not (folder / f"{stem}.py").exists():
                stem = module_name(name)
            module = loaded(folder / f"{stem}.py", f"typed_{toolset}_{stem}")
            counted["tools"] += 1
            for key, word in (("inputSchema", "Arguments"), ("outputSchema", "Result")):
                if tool.get(key) is None:
                    continue
                # Results that may be anything have no name.
                type_ = getattr(module, f"{class_name(name)}{word}", Any)
                place = f"{toolset} {name} {key}"
                schema = tool[key]
                if word == "Arguments":
                    # Only objects are sent.
                    schema = {"type": "object", **schema}
                try:
                    counted["values"] += _tried(schema, type_)
                    counted["schemas"] += 1
                except Unsatisfiable:
                    untried.append(f"{place}: no valid value was found")
                except ValueError as error:
                    refused.append(f"{place}: {error}")
    print(dict(counted), "not tried:", *untried, sep="\n")
    assert not refused, "\n".join(refused)
    assert not untried, "\n".join(untried)


def _tried(schema: Any, type_: Any) -> int:
    """How many values of the schema fitted.

    Raises:
        ValidationError: one did not.
        Unsatisfiable: there was none.
    """
    adapter: Any = TypeAdapter(type_)
    tried = 0

    def fits(value: Any) -> None:
        nonlocal tried
        adapter.validate_python(value)
        tried += 1

    _FEW(given(valid_values(schema))(fits))()
    return tried
