"""Generated types of the corpus's tools accept the valid values of their schemas.

`tests/corpus/test_mcp_lists_exact.py` checks the same modules with mypy. Every
eighth tool is tested; all are with `TOOLCAST_VALUES=2`, the number of values for each
schema. `TOOLCAST_CORPUS=FOLDER` adds lists.
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
from tests.types.test_schema_types import load_module
from tests.types.valid_values import valid_values
from toolcast_runtime.core.definitions.tool import distinct_name, module_name
from toolcast_runtime.values.annotated_types import class_name

# The tools of a list are similar, and all of them would take two minutes.
_STEP = 1 if "TOOLCAST_VALUES" in os.environ else 8
_FEW_EXAMPLES = settings(
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
def test_pydantic_accepts_valid_values_for_the_generated_types_in_the_corpus(
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    tools_by_toolset = {name: _read_tools(text) for name, text in LISTS.items()}
    root = tmp_path_factory.mktemp("typed")
    texts = {name: json.dumps(tools) for name, tools in tools_by_toolset.items()}
    import_lists(root, texts, ("registry",))
    generate_project(root)
    counted: Counter[str] = Counter()
    untested: list[str] = []
    rejected: list[str] = []
    for toolset, tools in tools_by_toolset.items():
        for tool in tools:
            name = tool["name"]
            folder = root / "generated" / toolset / "tools"
            stem = distinct_name(name)
            if not (folder / f"{stem}.py").exists():
                stem = module_name(name)
            module = load_module(folder / f"{stem}.py", f"typed_{toolset}_{stem}")
            counted["tools"] += 1
            for key, word in (("inputSchema", "Arguments"), ("outputSchema", "Result")):
                if tool.get(key) is None:
                    continue
                # Results of any type have no named type.
                type_ = getattr(module, f"{class_name(name)}{word}", Any)
                place = f"{toolset} {name} {key}"
                schema = tool[key]
                if word == "Arguments":
                    # Only objects are passed as arguments.
                    schema = {"type": "object", **schema}
                try:
                    counted["values"] += _count_accepted_values(schema, type_)
                    counted["schemas"] += 1
                except Unsatisfiable:
                    untested.append(f"{place}: no valid value was found")
                except ValueError as error:
                    rejected.append(f"{place}: {error}")
    print(dict(counted), "not tried:", *untested, sep="\n")
    assert not rejected, "\n".join(rejected)
    assert not untested, "\n".join(untested)


def _read_tools(text: str) -> list[Any]:
    """Return the tested tools of a list; their types ignore the notation of numbers."""
    answer = json.loads(text)
    tools: list[Any] = answer if isinstance(answer, list) else answer["tools"]
    return tools[::_STEP]


def _count_accepted_values(schema: Any, type_: Any) -> int:
    """Return the number of tested values of a schema.

    Raises:
        ValidationError: a value is not accepted.
        Unsatisfiable: the schema has no value.
    """
    adapter: Any = TypeAdapter(type_)
    count = 0

    def validate(value: Any) -> None:
        nonlocal count
        adapter.validate_python(value)
        count += 1

    _FEW_EXAMPLES(given(valid_values(schema))(validate))()
    return count
