"""`toolcast verify --python` compares the contents of resources and prompts."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests.program import run_toolcast

SERVERS = Path(__file__).parent / "module_servers"
DIFFERENT_HANDLERS = """

def policy() -> str:
    return "# Another policy"


def review(item: str, tone: str = "plain") -> str:
    raise ValueError(item)
"""


# Servers are started a dozen times.
@pytest.mark.timeout(300)
@pytest.mark.slow
def test_verify_python_compares_resource_and_prompt_contents(
    tmp_path: Path,
) -> None:
    shutil.copytree(SERVERS / "sdk_shop", tmp_path / "sdk_shop")
    python = ("--python", "sdk_shop.server")
    run_toolcast(tmp_path, "import", *python, "--toolset", "shop")
    run_toolcast(tmp_path, "generate")
    with (tmp_path / "handlers/shop.py").open("a", encoding="utf-8") as file:
        file.write(DIFFERENT_HANDLERS)
    printed = run_toolcast(tmp_path, "verify", *python, "--exclude", "review", code=1)
    assert printed.count("error: resource `shop://policy`: the content is") == 1
    assert "`review`" not in printed
    assert "2 contents: 1 equal, 0 with permitted differences, 1 different" in printed
    assert "no change against the generated server of shop" in printed
    printed = run_toolcast(
        tmp_path, "verify", *python, "--exclude", "shop://polcy", code=2
    )
    assert "there is no resource or prompt `shop://polcy`" in printed
    assert "`shop://policy`" in printed
    printed = run_toolcast(tmp_path, "verify", "--exclude", "review", code=2)
    assert "--exclude requires --python" in printed
