"""Connections to Letta and the MCP server: versions, URLs, credentials, retries."""

from __future__ import annotations

from typing import Any

import pytest

from letta.tests.fake_letta import Fault
from letta.tests.toy import MCP, TOKEN, TOOLSET, list_blocker_codes
from toolcast_letta.plan.backend import PlanRefusedError
from toolcast_letta.plan.desired_state import MissingSettingError
from toolcast_letta.v1.api import LettaApi, LettaError, UnverifiedStateError


@pytest.mark.parametrize("version", ["0.12.9", "0.17.0", "1.0.0", "nightly"])
def test_letta_plan_is_blocked_for_an_unsupported_letta_version(
    toy: Any, version: str
) -> None:
    toy.world.version = version
    assert list_blocker_codes(toy.plan()) == ["version"]


def test_letta_plan_warns_about_a_private_mcp_server_url_from_letta_0_16_7(
    make_toy: Any,
) -> None:
    toy = make_toy(toolset=TOOLSET.replace("mcp.test", "127.0.0.1:9"))
    toy.world.servers["http://127.0.0.1:9/mcp"] = toy.mcp
    refuses = "refuses MCP servers at private addresses"
    assert not any(refuses in warning for warning in toy.plan().warnings)
    toy.world.version = "0.16.7"
    assert refuses in toy.plan().warnings[0]


def test_letta_apply_to_letta_cloud_is_refused(toy: Any) -> None:
    plan = toy.plan()
    api = LettaApi("https://api.letta.com")
    from toolcast_letta.plan.applying import apply_plan
    from toolcast_letta.state.baseline import Baselines
    from toolcast_letta.v1.server_backend import ServerBackend

    with pytest.raises(PlanRefusedError, match="Letta's cloud"):
        apply_plan(plan, ServerBackend(api, Baselines(toy.state)), toy.desired())


@pytest.mark.parametrize("url", ["", "letta", "ftp://x", "http://user:pw@letta.test"])
def test_letta_api_raises_letta_error_for_an_invalid_base_url(url: str) -> None:
    with pytest.raises(LettaError):
        LettaApi(url)


def test_letta_api_error_for_a_wrong_key_does_not_contain_the_key(toy: Any) -> None:
    toy.world.password = "right"
    api = LettaApi(toy.fake.url, "wr0ng-key")
    with pytest.raises(LettaError, match="401") as caught:
        api.count_tools()
    assert "wr0ng-key" not in str(caught.value)


def test_missing_mcp_server_token_variable_raises_missing_setting_error(
    toy: Any,
) -> None:
    del toy.environment["TOY_MCP_TOKEN"]
    with pytest.raises(
        MissingSettingError, match="set the environment variable TOY_MCP_TOKEN"
    ):
        toy.desired()


@pytest.mark.parametrize(
    "url", ["mcp.test/mcp", "ftp://mcp.test", "http://a:b@mcp.test"]
)
def test_invalid_mcp_server_url_raises_an_error_without_its_credentials(
    toy: Any, url: str
) -> None:
    toolset = toy.project.root / "specs/toy/toolset.yaml"
    text = toolset.read_text().replace(f'url: "{MCP}"', "url_env: TOY_MCP_URL")
    toolset.write_text(text)
    toy.environment["TOY_MCP_URL"] = url
    with pytest.raises(MissingSettingError, match="the MCP server's URL") as caught:
        toy.desired()
    assert "a:b" not in str(caught.value)


def test_letta_apply_updates_a_new_mcp_server_token_and_keeps_other_headers(
    toy: Any,
) -> None:
    toy.apply()
    toy.mcp.token = "another-s3cret-token"
    toy.environment["TOY_MCP_TOKEN"] = toy.mcp.token
    plan = toy.plan()
    assert [(item.layer, item.detail) for item in plan.changes] == [
        ("server", "bearer token (not shown)")
    ]
    assert TOKEN not in str(plan.to_json())
    assert toy.mcp.token not in str(plan.to_json())
    toy.entry().config["custom_headers"]["X-Region"] = "north"
    toy.apply(plan)
    assert toy.entry().config["custom_headers"] == {
        "X-Region": "north",
        "Authorization": "Bearer another-s3cret-token",
    }
    assert toy.entry().server_name == "toy"
    assert toy.verify().all_match


def test_letta_apply_updates_a_new_mcp_server_url_in_letta(toy: Any) -> None:
    toy.apply()
    toy.world.servers["http://new.test/mcp"] = toy.mcp
    toy.project.edit("specs/toy/toolset.yaml", MCP, "http://new.test/mcp")
    plan = toy.plan()
    assert [item.detail for item in plan.changes] == [
        f"url {MCP} -> http://new.test/mcp"
    ]
    toy.apply(plan)
    assert toy.entry().config["server_url"] == "http://new.test/mcp"


def test_letta_apply_saves_a_baseline_file_before_its_first_change(toy: Any) -> None:
    """Save the state that a rollback restores."""
    kept: list[int] = []

    def look(method: str, path: str) -> None:
        if method != "GET" and not path.endswith("/test"):
            kept.append(len(list(toy.state.glob("*.json"))))

    plan = toy.plan()
    toy.fake.faults.before = look
    toy.apply(plan)
    assert kept == [1] * len(kept)
    assert kept


@pytest.mark.parametrize("fault", [Fault.ERROR_AFTER, Fault.LOCKED, Fault.DROP_AFTER])
def test_letta_apply_does_not_send_a_failed_agent_update_again(
    toy: Any, fault: Fault
) -> None:
    plan = toy.plan()
    path = f"/v1/agents/{toy.agent_id}"
    toy.fake.faults.reset()
    toy.fake.faults.counts = lambda method, at: (method, at) == ("PATCH", path)
    toy.fake.faults.at[0] = fault
    expected = LettaError if fault is Fault.LOCKED else UnverifiedStateError
    with pytest.raises(expected):
        toy.apply(plan)
    assert toy.fake.faults.seen.count(("PATCH", path)) == 1
