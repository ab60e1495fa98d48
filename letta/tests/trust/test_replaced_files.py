"""Files of other kinds in the place of plans, baselines and settings are refused."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.clone.plants import PLANTS, Plant
from toolcast_letta.code.settings_file import Settings, SettingsError
from toolcast_letta.plan.plan import Plan
from toolcast_letta.state.baseline import Baselines
from toolcast_letta.state.seal import KEY_VARIABLE, ForeignFileError, Seal

pytestmark = pytest.mark.usefixtures("time_limit")
PARAMETRIZE_PLANTS = pytest.mark.parametrize(
    "plant", PLANTS, ids=lambda plant: plant.__name__
)


@PARAMETRIZE_PLANTS
def test_letta_plan_load_refuses_a_link_pipe_or_device(
    tmp_path: Path, outside: Path, plant: Plant
) -> None:
    plant(tmp_path / "plan.json", outside)
    with pytest.raises(ForeignFileError, match=r"plan\.json"):
        Plan.load(tmp_path / "plan.json", Seal({KEY_VARIABLE: "k" * 32}))


@PARAMETRIZE_PLANTS
def test_letta_baseline_load_refuses_a_link_pipe_or_device(
    tmp_path: Path, outside: Path, plant: Plant
) -> None:
    plant(tmp_path / "toys-1.json", outside)
    with pytest.raises(ForeignFileError, match=r"toys-1\.json"):
        Baselines(tmp_path).load(tmp_path / "toys-1.json")


@PARAMETRIZE_PLANTS
def test_letta_code_settings_read_refuses_a_link_pipe_or_device(
    tmp_path: Path, outside: Path, plant: Plant
) -> None:
    plant(tmp_path / "settings.json", outside)
    with pytest.raises(SettingsError, match=r"settings\.json"):
        Settings.read(tmp_path / "settings.json")
