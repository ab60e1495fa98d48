"""Deployment files for users: each is valid, and they agree with each other."""

from __future__ import annotations

import importlib.util
import json
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml

from generated.kirishima.mcp_server import SERVER
from tests.deployment.deployed import FILES, read_instructions
from toolcast_runtime.mcp.server_options import _build_parser

SHUTDOWN_TIME_S = 5
"""The time for closing after the grace period, as docs/targets/mcp.md documents it."""
INSTRUCTIONS = dict(read_instructions(FILES / "Dockerfile"))
COMPOSE = yaml.safe_load((FILES / "compose.yaml").read_text(encoding="utf-8"))
TOOLS = COMPOSE["services"]["tools"]
UNIT = (FILES / "my_tools@.service").read_text(encoding="utf-8")
COMMAND = json.loads(INSTRUCTIONS["CMD"])


def list_unit_values(name: str) -> list[str]:
    return re.findall(rf"(?m)^{name}=(.*)$", UNIT)


def parse_server_options(command: list[str]) -> dict[str, Any]:
    """Return the options of a server command, parsed by the server's own parser."""
    at = command.index("generated.my_tools.mcp_server")
    assert command[at - 1] == "-m" and command[0].endswith("/bin/python")
    return vars(_build_parser(SERVER).parse_args(command[at + 1 :]))


def test_deployment_dockerfile_runs_an_http_replica_as_unprivileged_user() -> None:
    options = parse_server_options(COMMAND)
    assert options["http"] and options["replica"]
    assert (options["host"], options["port"]) == (
        "0.0.0.0",
        int(INSTRUCTIONS["EXPOSE"]),
    )
    user, _, group = INSTRUCTIONS["USER"].partition(":")
    assert int(user) > 1000 and int(group) > 1000
    assert INSTRUCTIONS["STOPSIGNAL"] == "SIGTERM"
    # The image contains only the built application, not the sources.
    assert INSTRUCTIONS["COPY"] == "--from=build /app /app"


def test_compose_and_systemd_stop_timeouts_exceed_the_servers_grace_period() -> None:
    grace = parse_server_options(COMMAND)["grace"]
    (period,) = re.fullmatch(r"(\d+)s", TOOLS["stop_grace_period"]).groups()  # type: ignore[union-attr]
    assert int(period) > grace + SHUTDOWN_TIME_S
    [command] = list_unit_values("ExecStart")
    own = parse_server_options([w.replace("%i", "8001") for w in command.split()])
    assert own == {**parse_server_options(COMMAND), "host": "127.0.0.1", "port": 8001}
    assert int(list_unit_values("TimeoutStopSec")[0]) > own["grace"] + SHUTDOWN_TIME_S


def test_deployment_compose_file_matches_the_compose_json_schema() -> None:
    package = importlib.util.find_spec("check_jsonschema")
    assert package is not None and package.origin is not None
    schema = Path(package.origin).parent / "builtin_schemas/vendor/compose-spec.json"
    jsonschema.validate(COMPOSE, json.loads(schema.read_text(encoding="utf-8")))


def test_compose_services_use_exactly_the_declared_secrets_and_networks() -> None:
    used: dict[str, set[str]] = {"secrets": set(), "networks": set()}
    for service in COMPOSE["services"].values():
        for kind, names in used.items():
            names.update(service.get(kind, []))
        assert set(service.get("depends_on", {})) <= set(COMPOSE["services"])
    assert {kind: set(COMPOSE[kind]) for kind in used} == used
    assert TOOLS["deploy"]["replicas"] == 3
    assert "ports" not in TOOLS and COMPOSE["networks"]["back"]["internal"]
    files = [v for k, v in TOOLS["environment"].items() if k.endswith("_FILE")]
    assert files == [f"/run/secrets/{name}" for name in TOOLS["secrets"]]


def test_compose_containers_are_read_only_and_have_no_capabilities() -> None:
    for name in ("tools", "balancer"):
        service = COMPOSE["services"][name]
        assert service["read_only"] and service["cap_drop"] == ["ALL"]
        assert service["security_opt"] == ["no-new-privileges:true"]


def test_deployment_passes_secrets_as_files_and_not_as_environment_values() -> None:
    patterns = (FILES / ".dockerignore").read_text(encoding="utf-8").split()
    assert {"secrets", ".env", ".git"} <= set(patterns)
    credentials = [
        line.partition(":")[0] for line in list_unit_values("LoadCredential")
    ]
    assert credentials == TOOLS["secrets"]
    set_ = {line.partition("=")[0] for line in list_unit_values("Environment")}
    assert set(TOOLS["environment"]) <= set_
    paths = [
        line.partition("=")[2]
        for line in list_unit_values("Environment")
        if "_FILE=" in line
    ]
    assert paths == [f"%d/{name}" for name in credentials]


@pytest.mark.skipif(not shutil.which("systemd-analyze"), reason="no systemd")
def test_systemd_analyze_accepts_the_deployment_unit_and_its_security(
    tmp_path: Path,
) -> None:
    file = tmp_path / "my_tools@.service"
    there = UNIT.replace("/opt/my_tools/bin/python", sys.executable)
    file.write_text(there.replace("/opt/my_tools", "/"), encoding="utf-8")
    done = subprocess.run(
        ["systemd-analyze", "verify", str(file)], capture_output=True, text=True
    )
    assert (done.returncode, done.stderr) == (0, "")
    done = subprocess.run(
        ["systemd-analyze", "security", "--offline=true", "--threshold=20", str(file)],
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout[-500:]


@pytest.mark.skipif(not shutil.which("haproxy"), reason="no HAProxy")
def test_haproxy_accepts_the_deployment_configuration() -> None:
    file = str(FILES / "haproxy.cfg")
    done = subprocess.run(["haproxy", "-c", "-f", file], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
