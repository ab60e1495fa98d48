"""`toolcast new` with `--kind handler` and `--kind toolset`."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from tests.commands.run_module import run

ORDER = """\
name: order
summary: Order a thing.
parameters:
  type: object
  properties:
    item: {type: string}
    count: {type: integer, default: 2}
    gift: {type: boolean}
    kind: {enum: [a, b]}
    tags: {type: array, items: {type: string}}
  required: [item, kind]
  additionalProperties: false
# Its own comment stays.
timeout: 5
"""
SIGNATURE = """\
def order(
    *,
    item: str,
    count: int = 2,
    gift: bool | None = None,
    kind: Any,
    tags: Any = None,
) -> Any:
"""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    run(tmp_path, "toolcast", "init", "--minimal", "--name", "shop")
    (tmp_path / "specs/shop/order.yaml").write_text(ORDER)
    return tmp_path


def test_new_kind_handler_writes_a_stub_and_adds_it_to_the_tool_spec(
    project: Path,
) -> None:
    output = run(project, "toolcast", "new", "order", "--kind", "handler").stdout
    assert "wrote handlers/order.py\nchanged specs/shop/order.yaml\n" in output
    spec = (project / "specs/shop/order.yaml").read_text()
    assert spec == ORDER + 'handler: "handlers.order:order"\n'
    stub = (project / "handlers/order.py").read_text()
    assert SIGNATURE in stub
    assert max(map(len, stub.splitlines())) <= 79, "a team's limit may be PEP 8's"
    run(project, "toolcast", "generate")
    errors = run(project, "toolcast", "check", "--fail-on", "error").stderr
    assert "handler/" not in errors
    code = "import sys; from handlers.order import order; order(item='x', kind='a')"
    (project / "try_it.py").write_text(code)
    assert "this tool is not implemented yet" in run(project, "try_it", expect=1).stderr


def test_new_kind_handler_writes_the_module_and_function_that_the_tool_spec_names(
    project: Path,
) -> None:
    spec = project / "specs/shop/order.yaml"
    text = ORDER + "handler: handlers.sales.orders:place\n"
    spec.write_text(text)
    run(project, "toolcast", "new", "order", "--kind", "handler")
    assert spec.read_text() == text
    assert "def place(\n" in (project / "handlers/sales/orders.py").read_text()
    again = run(project, "toolcast", "new", "order", "--kind", "handler", expect=2)
    assert "handlers/sales/orders.py exists already" in again.stderr


def test_new_kind_handler_stub_has_one_dict_parameter_if_a_tool_parameter_is_a_keyword(
    project: Path,
) -> None:
    spec = project / "specs/shop/order.yaml"
    spec.write_text(ORDER.replace("gift:", '"class":'))
    run(project, "toolcast", "new", "order", "--kind", "handler")
    stub = (project / "handlers/order.py").read_text()
    assert "def order(arguments: dict[str, Any], /) -> Any:\n" in stub
    run(project, "toolcast", "generate")
    errors = run(project, "toolcast", "check", "--fail-on", "error").stderr
    assert "handler/" not in errors


def test_new_toolset_is_added_to_toolcast_yaml_and_generates(project: Path) -> None:
    output = run(project, "toolcast", "new", "support", "--kind", "toolset").stdout
    assert "wrote specs/support/toolset.yaml\nchanged toolcast.yaml\n" in output
    toolsets = yaml.safe_load((project / "toolcast.yaml").read_text())["toolsets"]
    assert toolsets == ["specs/shop", "specs/support"]
    run(project, "toolcast", "new", "greet", "--toolset", "support")
    run(project, "toolcast", "generate")
    assert (project / "generated/support/mcp_server.py").is_file()


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        (["--kind", "toolset"], "pass the name of the toolset"),
        (["ordr", "--kind", "handler"], "did you mean `order`?"),
        (["shop", "--kind", "toolset"], "the toolset `shop` exists already"),
        (["../x", "--kind", "toolset"], "is not a valid toolset name"),
        (["x", "--kind", "toolset", "--toolset", "shop"], "name of the new toolset as"),
        (
            ["order", "--kind", "handler", "--section", "a"],
            "cannot be combined with `--kind handler`",
        ),
    ],
)
def test_toolcast_new_with_invalid_arguments_exits_with_2_and_writes_nothing(
    project: Path, arguments: list[str], error: str
) -> None:
    before = sorted(project.rglob("*"))
    assert error in run(project, "toolcast", "new", *arguments, expect=2).stderr
    assert sorted(project.rglob("*")) == before
