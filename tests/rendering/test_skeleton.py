"""A skeleton passes only where the text itself would: judged on any text, not on ours."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import toolcast.rendering.output_guard
from toolcast.pipeline import generate
from toolcast.rendering.output_guard import PythonShape, ShapeViolation, verify_shape
from toolcast.rendering.skeleton import OWN_NAME, can_give_way, skeleton

REPOSITORY = Path(__file__).parent.parent.parent
HEAD = '"""d"""\nX = '
SHAPE = PythonShape(("docstring", "X ="), frozenset(["f"]), "Own")
PIECES = [
    *('"', "'", '"""', '"a"', "'b'", '"a\\n"', '"\\', "\\x1", '"\\ud800"', '"é"', "#"),
    *("[", "]", "{", "}", "(", ")", ",", ":", "=", ";", "@", ".", "*", "-", " ", "  "),
    *(
        "\n",
        "\n    ",
        "1",
        "0",
        "010",
        "1.5",
        "e5",
        "1e5",
        "True",
        "None",
        "x",
        "f",
        "b",
    ),
    *("f(", "g(", "Own", "OwnName_0", "lambda", "await", "if ", " else ", "del ", "é"),
    *("import os", "return", "pass", "class A", "def h(a, a): ...", "\t", "\r", "\x0c"),
]


def judged(text: str, *, quickly: bool) -> str:
    """What is said of a text, by its skeleton first or by itself alone."""
    problem_in = toolcast.rendering.output_guard._python_problem
    return (problem_in if quickly else toolcast.rendering.output_guard._problem_in)(
        text, SHAPE
    )


@settings(max_examples=1500)
@given(st.lists(st.sampled_from(PIECES), max_size=14).map("".join))
@example('f"a"')
@example('["a"]["b"]')
@example('{"a": 1} "b"')
@example('("a") "b"')
@example('["a"]e5')
@example('["a"] = 1')
@example("1\n['a']")
@example("[1],\n['a']")
@example("[010]")
@example('"a" # "\n')
@example("'\\N{BULLET}'")
@example("'\\ud800'")
@example("True.5")
@example("1 .real")
@example("1if x else 2")
@example("f(None=1)")
@example("0x1F")
@example("-1")
@example("lambda: 0")
@example("Own; import os")
def test_what_the_skeleton_passes_the_text_passes(tail: str) -> None:
    text = HEAD + tail
    if not judged(text, quickly=True):
        assert not judged(text, quickly=False)


@given(
    st.recursive(
        st.one_of(
            st.none(), st.booleans(), st.integers(), st.floats(0, 1e9), st.text()
        ),
        lambda inner: st.one_of(
            st.lists(inner, max_size=4), st.dictionaries(st.text(), inner, max_size=4)
        ),
    )
)
def test_data_leaves_one_skeleton(value: object) -> None:
    from toolcast.encoders.python import literal

    text = f'"""d"""\n{literal(value, 0, "X = ")}\n'
    short = skeleton(text)
    assert short is not None
    assert short.split(" = ")[1].strip() in ('""', "(0)", "-(0)")


def test_own_names_give_way_everywhere() -> None:
    one = skeleton("class OneThing(A):\n    x: OneThingOther\n", "OneThing")
    two = skeleton("class Two(A):\n    x: TwoOther\n", "Two")
    assert one == two
    assert one is not None and OWN_NAME in one


@pytest.mark.parametrize("name", ["", "No", "Tr", "class", "debug", "a-b", "É"])
def test_names_that_stay(name: str) -> None:
    assert not can_give_way(name)


@pytest.mark.parametrize(
    "text", ['X = f"{g()}"\n', 'X = f"" + g()\n', "X = [g()]\n", "X = ['a', g()]\n"]
)
def test_code_among_data_is_seen(text: str) -> None:
    with pytest.raises(ShapeViolation):
        verify_shape("t", text.encode(), PythonShape(("X =",)))


def test_every_file_of_this_repository_has_a_skeleton_of_the_same_code() -> None:
    files = [
        data
        for path, data in generate(str(REPOSITORY)).files.items()
        if path.endswith(".py") and not path.startswith("_runtime/")
    ]
    assert files
    for data in files:
        text = data.decode("utf-8")
        short = skeleton(text)
        assert short is not None
        assert _calls(short) == _calls(text)


def _calls(text: str) -> list[str]:
    calls = [
        node.func for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Call)
    ]
    return [ast.unparse(call) for call in calls if not isinstance(call, ast.Attribute)]


def test_files_of_one_template_are_judged_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "specs" / "x"
    folder.mkdir(parents=True)
    (tmp_path / "toolcast.yaml").write_text("version: 1\ntoolsets: [specs/x]\n")
    (folder / "toolset.yaml").write_text("name: x\ntitle: X\ntargets: {registry: {}}\n")
    for number in range(20):
        (folder / f"tool_{number}.yaml").write_text(
            f"name: tool_{number}\nsummary: Does {number}.\nparameters: {{type: object}}\n"
        )
    parsed: list[str] = []
    real = toolcast.rendering.output_guard._problem_in

    def counted(text: str, shape: PythonShape) -> str:
        parsed.append(text)
        return real(text, shape)

    toolcast.rendering.output_guard._is_of_shape.cache_clear()
    # As if a run had judged its first few files already, which it does one by one.
    monkeypatch.setattr(toolcast.rendering.output_guard._FEW, "_left", 0)
    monkeypatch.setattr(toolcast.rendering.output_guard, "_problem_in", counted)
    assert len(generate(str(tmp_path)).files) > 20
    # The tools' modules, the registry, its checksum, and the packages with their docstrings.
    assert len(parsed) == 4
