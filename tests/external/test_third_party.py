"""Servers that others wrote: a clock, a repository, and the protocol's show-case."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.external.conftest import Open, call
from tests.external.third_party_setup import ThirdParty, installed
from toolcast_runtime.core.server_settings import ExternalServer

pytestmark = [
    pytest.mark.servers,
    pytest.mark.skipif(
        installed() is None,
        reason="not set up: make test-servers",
    ),
]


@pytest.fixture(scope="module")
def commands() -> ThirdParty:
    there = installed()
    assert there is not None
    return there


def at(name: str, words: tuple[str, ...], **options: Any) -> ExternalServer:
    program, *args = words
    return ExternalServer(name, command=program, args=tuple(args), **options)


async def test_the_clock(opened: Open, commands: ThirdParty) -> None:
    words = (*commands.time, "--local-timezone", "UTC")
    tools = opened(at("time", words, prefix="time_"))
    names = [tool.name for tool in await tools.list_tools()]
    assert names == ["time_get_current_time", "time_convert_time"]
    now = await call(tools, "time_get_current_time", timezone="Asia/Tokyo")
    assert now.success and "+09:00" in now.text()
    refused = await call(tools, "time_get_current_time", timezone="Nowhere/Atlantis")
    assert refused.error is not None and "Nowhere/Atlantis" in refused.error
    wrong = await call(tools, "time_get_current_time", zone="UTC")
    assert wrong.error is not None and "`timezone` is required" in wrong.error


async def test_the_repository(
    opened: Open, commands: ThirdParty, tmp_path: Path
) -> None:
    def git(*words: str) -> None:
        who = ("-c", "user.name=A", "-c", "user.email=a@example.org")
        subprocess.run(
            ["git", *who, *words], cwd=tmp_path, check=True, capture_output=True
        )

    git("init", "-b", "main")
    (tmp_path / "one.txt").write_text("one\n")
    git("add", ".")
    git("commit", "-m", "The first one")
    (tmp_path / "two.txt").write_text("two\n")
    words = (*commands.git, "--repository", str(tmp_path))
    tools = opened(at("git", words, deny=("git_reset",)))
    names = [tool.name for tool in await tools.list_tools()]
    assert {"git_status", "git_log", "git_add"} <= set(names)
    assert "git_reset" not in names
    status = await call(tools, "git_status", repo_path=str(tmp_path))
    assert "two.txt" in status.text()
    added = await call(tools, "git_add", repo_path=str(tmp_path), files=["two.txt"])
    assert added.success
    log = await call(tools, "git_log", repo_path=str(tmp_path), max_count=5)
    assert "The first one" in log.text()


async def test_the_show_case(
    opened: Open, commands: ThirdParty, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SHOW_CASE_TOKEN", "hunter2-hunter2")
    words = (*commands.everything, "stdio")
    env = {"TOKEN": "${SHOW_CASE_TOKEN}"}
    tools = opened(at("everything", words, env=env))
    names = {tool.name for tool in await tools.list_tools()}
    assert {"echo", "get-sum", "get-tiny-image", "get-structured-content"} <= names
    assert (await call(tools, "echo", message="hello")).result == "Echo: hello"
    total = await call(tools, "get-sum", a=2, b=3)
    assert "5" in total.text()
    wrong = await call(tools, "get-sum", a="two", b=3)
    assert wrong.error is not None and "`a` must be a number" in wrong.error
    image = await call(tools, "get-tiny-image")
    kinds = {block["type"] for block in image.content or ()}
    assert "image" in kinds
    weather = await call(tools, "get-structured-content", location="New York")
    assert isinstance(weather.result, dict) and "temperature" in weather.result
    environment = await call(tools, "get-env")
    assert "hunter2" not in environment.text()
