"""Resources, MCP prompts, completion and links, of a real server in both eras."""

from __future__ import annotations

import base64
import json
import shutil
import subprocess
import sys
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from tests.http.serving import run_server
from tests.mcp.projects import generate_project
from tests.mcp.servers import (
    ERAS,
    MODERN,
    HttpServer,
    StdioServer,
    http_server,
    stdio_server,
)
from toolcast_runtime import UnknownClientError

HERE = Path(__file__).parent
INVALID = -32602


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("offers")
    shutil.copytree(HERE / "project", root, dirs_exist_ok=True)
    generate_project(root)
    return root


@pytest.fixture(scope="module", params=ERAS)
def server(project: Path, request: pytest.FixtureRequest) -> Iterator[StdioServer]:
    with stdio_server(project, "generated.shop", era=request.param) as started:
        yield started


def read(server: StdioServer, uri: str) -> dict[str, Any]:
    return server.request("resources/read", {"uri": uri})


def contents(server: StdioServer, uri: str) -> dict[str, Any]:
    result = read(server, uri)["result"]
    if server.era == MODERN:
        assert result["ttlMs"] >= 0
        assert result["cacheScope"] in ("public", "private")
    (only,) = result["contents"]
    assert only["uri"] == uri
    assert isinstance(only, dict)
    return only


def prompt(server: StdioServer, name: str, **arguments: str) -> dict[str, Any]:
    return server.request("prompts/get", {"name": name, "arguments": arguments})


def definitions(project: Path, folder: str) -> list[dict[str, Any]]:
    files = sorted((project / "generated/shop" / folder).glob("*.json"))
    return [json.loads(file.read_text("utf-8")) for file in files]


def test_lists_are_the_definitions_that_the_client_has(
    server: StdioServer, project: Path
) -> None:
    for method, key, folder, kind in (
        ("resources/list", "resources", "mcp_resources", "uri"),
        (
            "resources/templates/list",
            "resourceTemplates",
            "mcp_resources",
            "uriTemplate",
        ),
        ("prompts/list", "prompts", "mcp_prompts", "name"),
    ):
        listed = server.request(method)["result"][key]
        assert listed
        assert listed == [
            one["mcp"]
            for one in definitions(project, folder)
            if kind in one["mcp"] and "staff" in one.get("clients", [])
        ]


def test_a_resource_holds_what_its_file_holds(server: StdioServer) -> None:
    policy = contents(server, "shop://policies/returns")
    assert policy["mimeType"] == "text/markdown"
    assert policy["text"] == "# Returns\n\nWithin 30 days, or {{never}}.\n"
    logo = contents(server, "shop://logo")
    assert base64.b64decode(logo["blob"]) == b"\x89PNG\x00\xff"
    assert contents(server, "shop://hours")["mimeType"] == "text/plain"


def test_a_template_gives_its_variables_to_the_handler(server: StdioServer) -> None:
    report = contents(server, "shop://reports/north/7")
    assert (report["text"], report["mimeType"]) == ("north,7", "text/csv")
    assert contents(server, "shop://reports/south/a%2520b")["text"] == "south,a%20b"
    page = contents(server, "shop://pages/a/b.html?part=head")
    assert base64.b64decode(page["blob"]) == b"a/b.html head"
    assert base64.b64decode(contents(server, "shop://pages/a")["blob"]) == b"a all"


@pytest.mark.parametrize(
    "uri",
    [
        "shop://nobodys",
        "shop://reports/east/7",
        "shop://reports/north/13",
        "shop://reports/north/..%2F..%2Fetc%2Fpasswd",
        "shop://reports/north/..",
        "shop://reports/north/%2Fetc%2Fpasswd",
        "shop://reports/north/a%00b",
        "shop://pages/a/../../../etc/passwd",
        "shop://pages/%2e%2e/x",
        "shop://pages/open/../closed",
        "shop://pages/open/..%2fclosed",
        "shop://pages/open%5C..%5Cclosed",
        "shop://pages/",
        "shop://pages/a%0Ab",
        "shop://pages/a%FFb",
        "shop://pages/a?part=../x",
        "shop://reports/north/",
        "shop://reports/north/a%2Fb",
        "shop://reports/north/a%5Cb",
        "shop://pages//etc/passwd",
        "shop://pages/C:%5CWindows",
        "kept://shop/guess/raw.csv",
        "file:///etc/passwd",
        "",
        "shop://pages/" + "a" * 100_000,
    ],
)
def test_what_is_no_resource_is_not_found(server: StdioServer, uri: str) -> None:
    error = read(server, uri)["error"]
    assert error["code"] == (INVALID if server.era == MODERN else -32002)
    assert (error["message"], error["data"]) == ("Resource not found", {"uri": uri})


def test_a_value_that_the_spec_names_is_taken_as_it_is(server: StdioServer) -> None:
    assert contents(server, "shop://reports/../7")["text"] == "..,7"


@pytest.mark.parametrize(
    ("method", "asked", "message"),
    [
        ("resources/read", {"uri": "shop://reports/north/7"}, "reading"),
        ("prompts/get", {"name": "shown", "arguments": {"order_id": "7"}}, "writing"),
    ],
)
def test_handlers_report_progress_to_who_asked(
    server: StdioServer, method: str, asked: dict[str, Any], message: str
) -> None:
    server.request(method, asked)
    assert not server.notifications
    server.request(method, {**asked, "_meta": {"progressToken": "p"}})
    told = [one["params"] for one in server.notifications]
    server.notifications.clear()
    expected = {"progressToken": "p", "progress": 1, "total": 2, "message": message}
    assert told == [expected]


def test_what_a_handler_raises_is_told_as_for_tools(server: StdioServer) -> None:
    told = read(server, "shop://failing/told")["error"]
    assert told["message"] == "The archive is closed."
    secret = read(server, "shop://failing/secret")["error"]["message"]
    assert secret.startswith("the resource failed; the log has the details (incident ")
    wrong = read(server, "shop://failing/wrong")["error"]["message"]
    assert wrong == "the resource's handler returned neither str nor bytes"
    assert "hunter2" not in b"".join(server.lines).decode()


def test_places_of_a_prompt_are_filled_once(server: StdioServer) -> None:
    order = "{{tone}} {% raw %} {{order_id}} \\1"
    result = prompt(server, "review_order", order_id=order, tone="polite")["result"]
    assert result["description"] == "Looks for what is odd about an order."
    said = [(m["role"], m["content"]["text"]) for m in result["messages"]]
    assert said == [
        ("user", f"Review {order} in a polite tone."),
        ("assistant", f"I look at {order}."),
    ]
    without = prompt(server, "review_order", order_id="7")["result"]["messages"]
    assert without[0]["content"]["text"] == "Review 7 in a  tone."


def test_a_prompts_handler_gives_texts_blocks_and_messages(server: StdioServer) -> None:
    messages = prompt(server, "shown", order_id="7")["result"]["messages"]
    kinds = [(m["role"], m["content"]["type"]) for m in messages]
    assert kinds == [
        ("user", "text"),
        ("user", "image"),
        ("assistant", "text"),
        ("user", "resource_link"),
    ]
    assert contents(server, messages[3]["content"]["uri"])["text"] == "Fragile."
    assert messages[2]["content"]["text"] == "7 in a plain tone for staff"
    wrong = prompt(server, "mute")["error"]["message"]
    assert wrong == (
        "the prompt's handler returned a message with a role other than `user` and"
        " `assistant`"
    )


@pytest.mark.parametrize(
    ("name", "arguments", "message"),
    [
        ("review_order", {}, "`order_id` is missing"),
        (
            "review_order",
            {"order_id": "7", "x": ""},
            "`x` is not an argument of the prompt",
        ),
        (
            "review_order",
            {"order_id": "7", "tone": "rude"},
            "`tone` must be one of plain, polite",
        ),
        ("shown", {"tone": "plain"}, "`order_id` is missing"),
        (
            "pick",
            {"number": "x"},
            f"`number` must be one of {', '.join(map(str, range(20)))} and 10 more",
        ),
        ("nobodys", {}, "Unknown prompt: nobodys"),
        ("absent", {}, "Unknown prompt: absent"),
    ],
)
def test_a_prompt_is_refused(
    server: StdioServer, name: str, arguments: dict[str, str], message: str
) -> None:
    error = prompt(server, name, **arguments)["error"]
    assert (error["code"], error["message"]) == (INVALID, message)


def test_completion_gives_the_values_that_begin_so(server: StdioServer) -> None:
    def values(ref: dict[str, str], name: str, begun: str) -> Any:
        params = {"ref": ref, "argument": {"name": name, "value": begun}}
        return server.request("completion/complete", params)

    review = {"type": "ref/prompt", "name": "review_order"}
    template = {"type": "ref/resource", "uri": "shop://reports/{region}/{month}"}
    found = values(review, "tone", "p")["result"]["completion"]
    assert found == {"values": ["plain", "polite"], "total": 2, "hasMore": False}
    for ref, name, begun, expected in (
        (review, "tone", "pl", ["plain"]),
        (review, "order_id", "", []),
        (template, "region", "n", ["north"]),
        (template, "month", "", []),
    ):
        answer = values(ref, name, begun)["result"]["completion"]
        assert answer["values"] == expected
    nobodys = values({"type": "ref/prompt", "name": "nobodys"}, "x", "")
    assert nobodys["error"]["code"] == INVALID


def test_blocks_of_a_result_are_sent_and_a_links_content_is_read(
    server: StdioServer,
) -> None:
    blocks = server.call("chart")["result"]["content"]
    kinds = [block["type"] for block in blocks]
    assert kinds == [
        "text",
        "image",
        "audio",
        "resource",
        "resource_link",
        "resource_link",
    ]
    sent = blocks[3]["resource"]
    assert (sent["uri"], sent["text"]) == (
        "attachment:///sales.csv",
        "month,sales\n1,30\n",
    )
    assert blocks[4]["uri"] == "shop://policies/returns"
    raw = blocks[5]
    assert (raw["name"], raw["mimeType"], raw["size"]) == ("raw.csv", "text/csv", 17)
    assert contents(server, raw["uri"])["text"] == "month,sales\n1,30\n"
    # Another call's content has another URI.
    assert server.call("chart")["result"]["content"][5]["uri"] != raw["uri"]

    only = server.call("picture")["result"]["content"]
    assert [(b["type"], b["mimeType"]) for b in only] == [("image", "image/png")]


def test_content_that_is_too_much_is_a_tool_error(server: StdioServer) -> None:
    result = server.call("chart", {"rows": 30})["result"]
    assert result["isError"]
    assert result["content"][0]["text"] == (
        "`raw.csv` has 162 bytes; links may have at most 100"
    )


def test_a_cursor_is_refused(server: StdioServer) -> None:
    for method in ("resources/list", "resources/templates/list", "prompts/list"):
        error = server.request(method, {"cursor": "2"})["error"]
        assert error["code"] == INVALID


@pytest.fixture
def live(project: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    monkeypatch.syspath_prepend(str(project))
    for name in list(sys.modules):
        if name.partition(".")[0] in ("generated", "shop"):
            monkeypatch.delitem(sys.modules, name)
    yield import_module("generated.shop.mcp_server").SERVER
    for name in list(sys.modules):
        if name.partition(".")[0] in ("generated", "shop"):
            del sys.modules[name]


def test_each_client_has_what_its_specs_say_and_no_more(live: Any) -> None:
    assert [one.name for one in live.resources("guests")] == ["returns_policy"]
    assert live.prompts("guests") == []
    for ask in (live.resources, live.prompts):
        with pytest.raises(UnknownClientError):
            ask("stranger")
        with pytest.raises(UnknownClientError):
            ask(None)


def test_capabilities_are_declared_only_where_there_is_something(live: Any) -> None:
    from toolcast_runtime.mcp.sdk_server import build_server

    def declared(client: str, **more: Any) -> set[str]:
        server = build_server(live, client, **more)
        capabilities = server.create_initialization_options().capabilities
        return set(capabilities.model_dump(exclude_none=True)) - {"extensions"}

    own = {"tools", "resources", "prompts", "completions"}
    assert declared("staff") == {*own, "logging"}
    # One resource, and neither prompt nor value to complete.
    assert declared("guests") == {"tools", "resources", "logging"}


def test_with_several_processes_the_content_of_a_link_is_sent(live: Any) -> None:
    blocks = live.registry.call_tool_sync("chart", {}, "staff").content
    assert blocks is not None
    assert blocks[5]["resource"]["uri"] == "attachment:///raw.csv"


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        (lambda value: value.pop("generated"), "'generated'"),
        (lambda value: value["mcp"].update(name="other"), "file name differ"),
        (lambda value: value["mcp"].pop("uri"), "it has no URI"),
    ],
)
def test_a_definition_that_was_not_generated_is_refused(
    project: Path, live: Any, change: Any, problem: str
) -> None:
    file = project / "generated/shop/mcp_resources/hours.json"
    text = file.read_text("utf-8")
    value = json.loads(text)
    change(value)
    try:
        file.write_text(json.dumps(value), encoding="utf-8")
        with pytest.raises(ImportError, match="toolcast generate") as caught:
            live.resources("staff")
    finally:
        file.write_text(text, encoding="utf-8")
    assert "hours.json" in str(caught.value)
    assert problem in str(caught.value)


def test_the_generated_tests_hold_the_live_server_to_the_definitions(
    project: Path, live: Any
) -> None:
    from toolcast_runtime.testing.generated_tests import snapshot_tests

    registry = import_module("generated.shop.registry")
    server = import_module("generated.shop.mcp_server")
    tests = snapshot_tests(registry, server, specs="specs/shop")()
    tests.test_resources_and_prompts_match_definitions("staff")
    file = project / "generated/shop/mcp_prompts/mute.json"
    text = file.read_text("utf-8")
    assert live.prompts("staff")
    try:
        file.write_text(text.replace('"mute"', '"deaf"'), encoding="utf-8")
        with pytest.raises(AssertionError, match="the MCP prompts of staff differs"):
            tests.test_resources_and_prompts_match_definitions("staff")
    finally:
        file.write_text(text, encoding="utf-8")


def test_a_command_writes_the_image_of_its_answer(live: Any, tmp_path: Path) -> None:
    main = import_module("generated.shop.cli").main
    target = tmp_path / "picture.png"
    done = CliRunner().invoke(main, ["--output", str(target), "picture"])
    assert (done.exit_code, done.stdout) == (0, "[image/png, 4 bytes]\n")
    assert target.read_bytes() == b"\x89PNG"
    # Nothing is kept for links in a shell: the content is in the answer.
    printed = CliRunner().invoke(main, ["chart"]).stdout
    assert printed.count("month,sales\n1,30\n") == 2


@pytest.mark.slow
def test_a_server_without_these_loads_nothing_for_them(project: Path) -> None:
    said = """if True:
        import sys
        from generated.plain.mcp_server import SERVER
        SERVER.build()
        print([name for name in sys.modules if "resources.definitions_of_mcp" in name
               or "resources.kept" in name or name.endswith("mcp.offers")])
    """
    root = project.parent / "plain"
    folder = root / "specs" / "plain"
    folder.mkdir(parents=True)
    (root / "toolcast.yaml").write_text("version: 1\ntoolsets: [specs/plain]\n")
    (folder / "toolset.yaml").write_text(
        "name: plain\ntitle: Plain\ntargets: {mcp: {}, registry: {}}\n"
    )
    (folder / "note.yaml").write_text(
        "name: note\nsummary: A note.\nparameters: {type: object}\n"
    )
    generate_project(root)
    done = subprocess.run(
        [sys.executable, "-c", said], cwd=root, capture_output=True, text=True
    )
    assert done.stdout == "[]\n", done.stderr
    generated = (root / "generated/plain/mcp_server.py").read_text("utf-8")
    assert "mcp_resources" not in generated
    assert "links" not in generated


def test_over_http_a_link_is_its_clients_alone(project: Path) -> None:
    with http_server(project, "generated.shop") as staff:
        base = staff.url.rpartition("/mcp")[0]
        guests = HttpServer(f"{base}/mcp/guests/", [])
        for era in ERAS:
            called = staff.request(
                era, "tools/call", {"name": "chart", "arguments": {}}
            )
            uri = called["result"]["content"][5]["uri"]
            mine = staff.request(era, "resources/read", {"uri": uri})["result"]
            assert mine["contents"][0]["text"] == "month,sales\n1,30\n"
            theirs = guests.request(era, "resources/read", {"uri": uri})["error"]
            assert theirs["message"] == "Resource not found"
            policy = {"uri": "shop://policies/returns"}
            assert "result" in guests.request(era, "resources/read", policy)
            hours = {"uri": "shop://hours"}
            assert "error" in guests.request(era, "resources/read", hours)
            assert "error" in guests.request(era, "prompts/list")


@pytest.mark.slow
def test_over_several_processes_the_content_of_a_link_is_in_the_answer(
    project: Path,
) -> None:
    with run_server("--workers", "2", package="generated.shop", root=project) as server:
        staff = HttpServer(f"http://127.0.0.1:{server.port}/mcp/", [])
        for _ in range(6):
            called = staff.request(
                MODERN, "tools/call", {"name": "chart", "arguments": {}}
            )
            block = called["result"]["content"][5]
            assert block["resource"]["text"] == "month,sales\n1,30\n"
