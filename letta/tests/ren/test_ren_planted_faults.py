"""Findings of `check` for faults that are inserted into a copy of ren."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests.conftest import CACHES, ROOT, Project
from tests.rules.layout import list_findings
from toolcast.findings import Severity
from toolcast.reports.formats import report_findings

NOTECARDS = "examples/ren/notecards.py"
CREATE = """    with main_pool(write=True) as connection:
        row = connection.execute(
            insert(notecards).values(values).returning(notecards)
        ).one()
    return _format_card(row)
"""


def find_line(project: Project, path: str, text: str) -> int:
    lines = (project.root / path).read_text("utf-8").splitlines()
    (found,) = [number for number, line in enumerate(lines, 1) if text in line]
    return found


@pytest.fixture
def project_copy(tmp_path: Path) -> Project:
    """Copy ren's specs and handlers into a project that tests can change."""
    root = tmp_path / "copy"
    for folder in ("specs/ren", "specs/schemas", "examples/ren"):
        shutil.copytree(ROOT / folder, root / folder, ignore=CACHES)
    copy = Project(root)
    copy.write(
        "toolcast.yaml", "version: 1\ntoolsets: [specs/ren]\nextensions: [letta]\n"
    )
    return copy


def run_check(project: Project) -> str:
    """Return the findings of `check` as text, without notes."""
    found = [f for f in list_findings(project.root) if f.severity > Severity.NOTE]
    return report_findings(found, "text")


def edit(project: Project, old: str, new: str) -> None:
    project.edit(NOTECARDS, old, new)


def test_toolcast_check_has_no_findings_for_the_unchanged_example_project(
    project_copy: Project,
) -> None:
    assert run_check(project_copy) == ""


def test_toolcast_check_reports_a_handler_that_messages_the_agent_directly(
    project_copy: Project,
) -> None:
    edit(
        project_copy,
        CREATE,
        CREATE.replace(
            "    return _format_card(row)\n",
            "    with connect_to_ren() as agent:\n"
            "        agent.client.agents.messages.create(agent.id, input='New card.')\n"
            "    return _format_card(row)\n",
        ),
    )
    edit(
        project_copy,
        "from .pools import main_pool\n",
        "from .letta_server import connect_to_ren\nfrom .pools import main_pool\n",
    )
    line = find_line(project_copy, NOTECARDS, "messages.create")
    spec = "specs/ren/create_notecard.yaml"
    output = run_check(project_copy)
    assert (
        f"{spec}:{find_line(project_copy, spec, 'attached: true')}:13: error:"
        " letta/circular-handler:"
        f" {NOTECARDS}:{line} sends a message to the agent:"
        " `agent.client.agents.messages.create`"
    ) in output


def test_toolcast_check_reports_the_call_path_to_a_helper_that_messages_the_agent(
    project_copy: Project,
) -> None:
    edit(
        project_copy,
        CREATE,
        CREATE.replace(
            "return _format_card(row)", "_tell(row)\n    return _format_card(row)"
        ),
    )
    edit(
        project_copy,
        "def _format_card(",
        "def _tell(row: Row[Any]) -> None:\n"
        "    ask_ren(f'New card: {row.text}')\n\n\n"
        "def _format_card(",
    )
    edit(
        project_copy,
        "from .arguments import",
        "from .agent_loop import ask_ren\nfrom .arguments import",
    )
    output = run_check(project_copy)
    first = find_line(project_copy, NOTECARDS, "    _tell(row)")
    second = find_line(project_copy, NOTECARDS, "    ask_ren(f'")
    last = find_line(project_copy, "examples/ren/agent_loop.py", "messages.create(")
    assert f"letta/circular-handler: examples/ren/agent_loop.py:{last} sends" in output
    assert (
        f"called through `create_notecard` ({NOTECARDS}:{first}) -> `_tell`"
        f" ({NOTECARDS}:{second}) -> `ask_ren`"
    ) in output
    # The other tools of the module do not reach it.
    assert output.count("letta/circular-handler:") == 1


@pytest.mark.parametrize(
    "statement",
    [
        "connection.execute(text('SELECT * FROM session_headers'))",
        "connection.execute(select(session_headers))",
    ],
)
def test_toolcast_check_reports_a_table_queried_through_the_wrong_database_pool(
    statement: str, project_copy: Project
) -> None:
    """Report `data/wrong-pool` for a table that belongs to another pool."""
    edit(
        project_copy,
        CREATE,
        CREATE.replace("        ).one()\n", f"        ).one()\n        {statement}\n"),
    )
    edit(
        project_copy,
        "from .pools import main_pool\n",
        "from sqlalchemy import text\n"
        "from .memory_tables import session_headers\n"
        "from .pools import main_pool\n",
    )
    line = find_line(project_copy, NOTECARDS, statement)
    output = run_check(project_copy)
    assert (
        f"data/wrong-pool: {NOTECARDS}:{line} queries `session_headers` through the pool"
        " `main`, but the table is in `memory`\n"
    ) in output
    assert "use the accessor of `memory`: examples.ren.pools:memory_pool" in output


def test_toolcast_check_reports_a_wrong_database_pool_in_a_helper_function(
    project_copy: Project,
) -> None:
    """Report `data/wrong-pool` with the call path to the helper."""
    edit(
        project_copy,
        CREATE,
        CREATE.replace(
            "        ).one()\n", "        ).one()\n        _sessions(connection)\n"
        ),
    )
    edit(
        project_copy,
        "def _format_card(",
        "def _sessions(connection: Connection) -> Any:\n"
        "    return connection.exec_driver_sql('SELECT * FROM session_headers')\n\n\n"
        "def _format_card(",
    )
    line = find_line(project_copy, NOTECARDS, "exec_driver_sql")
    output = run_check(project_copy)
    assert f"data/wrong-pool: {NOTECARDS}:{line} queries `session_headers`" in output
    assert "called through `create_notecard`" in output


def test_toolcast_check_reports_an_undeclared_table_with_the_same_columns(
    project_copy: Project,
) -> None:
    """Both tables have the same columns, so that results look correct."""
    path = "examples/ren/transcripts.py"
    text = (project_copy.root / path).read_text("utf-8")
    wrong = text.replace("chat_transcripts", "bridge_transcripts")
    project_copy.write(path, wrong)
    output = run_check(project_copy)
    line = find_line(project_copy, path, "chats = bridge_transcripts")
    assert (
        f"data/undeclared-table: {path}:{line} reads `bridge_transcripts`, which"
        " `data` does not declare"
    ) in output
    assert "or use a declared table: `chat_transcripts`" in output


def test_toolcast_check_reports_a_table_delete_that_the_tool_spec_does_not_declare(
    project_copy: Project,
) -> None:
    project_copy.edit("specs/ren/delete_notecard.yaml", "  deletes: [notecards]\n", "")
    output = run_check(project_copy)
    assert "data/undeclared-effect: examples/ren/notecards.py:" in output


@pytest.mark.parametrize(
    ("path", "old", "new", "rule"),
    [
        (
            "specs/ren/search_code.yaml",
            "limit:\n      type: integer",
            "limit:\n      type: array",
            "letta/skipped-schema",
        ),
        (
            "specs/ren/search_code.yaml",
            "letta:\n",
            "timeout: 300\nletta:\n",
            "letta/long-timeout",
        ),
        (
            "specs/ren/toolset.yaml",
            "examples.ren.pools:memory_pool",
            "examples.ren.pools:memory_pol",
            "data/unknown-accessor",
        ),
        (
            "specs/ren/get_project_state.yaml",
            "reads: [project_phases,",
            "reads: [session_headers,",
            "data/unknown-table",
        ),
    ],
)
def test_toolcast_check_reports_each_fault_inserted_into_a_spec_with_its_rule_id(
    path: str, old: str, new: str, rule: str, project_copy: Project
) -> None:
    project_copy.edit(path, old, new)
    assert f"error: {rule}:" in run_check(project_copy)


def test_toolcast_check_does_not_import_handler_modules(
    project_copy: Project, tmp_path: Path
) -> None:
    mark = tmp_path / "imported"
    for path in ("notecards.py", "pools.py", "agent_loop.py"):
        file = project_copy.root / "examples/ren" / path
        text = file.read_text("utf-8")
        first = "from __future__ import annotations\n"
        planted = f"{first}\nopen({str(mark)!r}, 'w').close()\n"
        file.write_text(text.replace(first, planted), "utf-8")
    assert run_check(project_copy) == ""
    assert not mark.exists()


def test_toolcast_check_command_exits_with_1_and_prints_the_finding_with_its_line(
    project_copy: Project,
) -> None:
    project_copy.edit(
        NOTECARDS,
        "    return _format_card(row)\n\n\ndef update",
        "    letta.send_chat_message(row)\n\n\ndef update",
    )
    done = project_copy.toolcast("check")
    line = find_line(project_copy, NOTECARDS, "send_chat_message")
    assert done.returncode == 1
    assert f"letta/circular-handler: {NOTECARDS}:{line} sends" in done.stderr
