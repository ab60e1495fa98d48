"""Only the encoders' package makes Code: in the sources, and when something runs."""

from __future__ import annotations

import ast
from collections.abc import Iterator

import pytest
from markupsafe import Markup

from tests.module_graph import DISTRIBUTIONS
from tests.test_structure import assert_none
from toolcast.encoders.code import Code, UnencodedTextError
from toolcast.encoders.markdown import encode_inline, interpolate

ENCODERS = DISTRIBUTIONS["toolcast"] / "encoders"
OTHERS = [
    file
    for name, folder in DISTRIBUTIONS.items()
    if name != "toolcast_runtime"  # which imports neither markupsafe nor the generator
    for file in sorted(folder.rglob("*.py"))
    if ENCODERS not in file.parents
]
MAKERS = {"Code", "Markup"}
# Functions of the encoders whose first words are printed as they are.
TEMPLATES = {"interpolate"}
# What terminals need to know, too.
PRINTED_WIDTH = {"text_width", "WIDTH"}


def complaints(tree: ast.Module) -> Iterator[str]:
    """Everything in a module that makes Code, or could, without an encoder."""
    annotations = {id(part) for node in ast.walk(tree) for part in _annotations(node)}
    for node in ast.walk(tree):
        place = f"line {getattr(node, 'lineno', 0)}"
        match node:
            case ast.Name(id=name) | ast.Attribute(attr=name) if name in MAKERS:
                if id(node) not in annotations and not _is_asked_for(node, tree):
                    yield f"{place}: uses {name} otherwise than as a type"
            case ast.Attribute(attr="__new__" | "__class__" | "__subclasses__"):
                if _is_of_code(node):
                    yield f"{place}: {ast.unparse(node)}"
            case ast.ImportFrom(module=module, names=names):
                yield from _imports(module or "", names, place)
            case ast.Import(names=names):
                for name in names:
                    if name.name.startswith(("markupsafe", "toolcast.encoders")):
                        yield f"{place}: imports {name.name} as a whole"
            case ast.Call(func=function, args=arguments):
                name = ast.unparse(function).rpartition(".")[2]
                if name in ("import_module", "__import__"):
                    words = " ".join(map(ast.unparse, arguments))
                    if "markupsafe" in words or "encoders" in words:
                        yield f"{place}: imports an encoder by its name"
                if name in TEMPLATES and not _is_constant(arguments[0], tree):
                    yield f"{place}: {name}() takes words of the source itself"


def _annotations(node: ast.AST) -> Iterator[ast.AST]:
    for field in ("annotation", "returns"):
        value = getattr(node, field, None)
        if isinstance(value, ast.AST):
            yield from ast.walk(value)
    if isinstance(node, ast.Subscript):
        # `list[Code]`, a type wherever it stands.
        yield from ast.walk(node.slice)


def _is_asked_for(node: ast.AST, tree: ast.Module) -> bool:
    """Whether it is the second argument of isinstance."""
    return any(
        isinstance(call, ast.Call)
        and ast.unparse(call.func) == "isinstance"
        and node in call.args[1:]
        for call in ast.walk(tree)
    )


def _is_of_code(node: ast.Attribute) -> bool:
    return node.attr == "__new__" or "code" in ast.unparse(node.value).lower()


def _imports(module: str, names: list[ast.alias], place: str) -> Iterator[str]:
    inside = module.rpartition("encoders")[2] if "encoders" in module else None
    for name in names:
        if module == "markupsafe":
            yield f"{place}: imports {name.name} of markupsafe"
        is_own = name.name.startswith("_") or (
            inside in (".layout", ".python_strings") and name.name not in PRINTED_WIDTH
        )
        if inside is not None and is_own:
            yield f"{place}: imports what is the encoders' own, {name.name}"
        if name.name in MAKERS and name.asname:
            yield f"{place}: imports {name.name} under another name"


def _is_constant(node: ast.expr, tree: ast.Module) -> bool:
    """A literal, or a name that the module binds once, to a literal."""
    if isinstance(node, ast.Name):
        bound = [
            statement.value
            for statement in tree.body
            if isinstance(statement, ast.Assign)
            and [ast.unparse(target) for target in statement.targets] == [node.id]
        ]
        return len(bound) == 1 and isinstance(bound[0], ast.Constant)
    return isinstance(node, ast.Constant) and isinstance(node.value, str)


def test_nobody_else_makes_code() -> None:
    assert_none(
        f"{file.parent.name}/{file.name}: {complaint}"
        for file in OTHERS
        for complaint in complaints(ast.parse(file.read_text("utf-8")))
    )


@pytest.mark.parametrize(
    "text",
    [
        "from toolcast.encoders.code import Code\nx = Code('y')",
        "from toolcast.encoders import code\nx = code.Code('y')",
        "from toolcast.encoders.code import Code as Text\nx = Text('y')",
        "from toolcast.encoders.code import Code\nclass Mine(Code): ...",
        "from toolcast.encoders.code import Code\nx = Code.__new__(Code, 'y')",
        "from toolcast.encoders.code import Code\nmake = Code",
        "from toolcast.encoders.code import Code\nx = map(Code, ['y'])",
        "from markupsafe import Markup",
        "import markupsafe",
        "import toolcast.encoders.code",
        "x = str.__new__(type(header), 'y')",
        "x = code.__class__('y')",
        "from importlib import import_module\nimport_module('toolcast.encoders.code')",
        "__import__('markupsafe')",
        "from toolcast.encoders.layout import Text",
        "from toolcast.encoders.python import _encode_number",
        "from toolcast.encoders.markdown import interpolate\nx = interpolate(tool.summary)",
        "from toolcast.encoders.markdown import interpolate\nx = interpolate(f'{tool.summary}')",
        "WORDS = tool.summary\nx = interpolate(WORDS)",
    ],
)
def test_every_way_of_making_code_is_seen(text: str) -> None:
    assert list(complaints(ast.parse(text)))


@pytest.mark.parametrize(
    "text",
    [
        "from toolcast.encoders.code import Code\nclass View(NamedTuple):\n    a: Code",
        "def f(a: Code, b: list[Code]) -> Code | None: ...",
        "Views = Mapping[str, Code]",
        "if isinstance(value, Code): ...",
        "NOTE = 'words'\nx = interpolate(NOTE)\ny = interpolate('a {}', encode_inline(tool.summary))",
    ],
)
def test_types_and_encoders_are_nobodys_concern(text: str) -> None:
    assert list(complaints(ast.parse(text))) == []


def test_code_that_is_forged_at_run_time_is_refused() -> None:
    with pytest.raises(UnencodedTextError, match="only encoders may create it"):
        Code("text")
    with pytest.raises(UnencodedTextError):
        encode_inline("x").__class__("text")
    with pytest.raises(UnencodedTextError):
        list(map(Code, ["text"]))
    for words in ("text", Markup("text")):
        with pytest.raises(UnencodedTextError):
            interpolate("{}", words)  # type: ignore[arg-type]


def test_a_table_of_texts_gets_nothing_into_code() -> None:
    with pytest.raises(UnencodedTextError):
        encode_inline("x").translate({ord("x"): '"""'})


def test_a_module_with_a_name_like_markupsafes_is_nobody_special() -> None:
    for name in ("markupsafe_more", "markupsafe2.inner", "toolcast.encoders_too"):
        with pytest.raises(UnencodedTextError):
            eval("Code('text')", {"__name__": name, "__package__": name, "Code": Code})
