"""Creation of `Code`: only the encoders create it, in sources and at run time."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

import pytest
from markupsafe import Markup

from tests.module_graph import DISTRIBUTIONS
from tests.test_structure import assert_none
from toolcast.encoders.code import Code, UnencodedTextError
from toolcast.encoders.markdown import encode_inline, interpolate

ENCODERS = DISTRIBUTIONS["toolcast"] / "encoders"
OTHER_FILES = [
    file
    for name, folder in DISTRIBUTIONS.items()
    if name != "toolcast_runtime"  # It imports neither markupsafe nor the generator.
    for file in sorted(folder.rglob("*.py"))
    if ENCODERS not in file.parents
]
CODE_CLASSES = {"Code", "Markup"}
# Functions of the encoders that do not encode their first argument.
TEMPLATE_FUNCTIONS = {"interpolate"}
WORDS = re.compile(
    r"\b(Code|Markup|__new__|__class__|__subclasses__|markupsafe|import_module|"
    r"__import__|interpolate)\b|encoders"
)
# Names in the encoders' internal modules that terminal output may import.
SHARED_NAMES = {"text_width", "WIDTH"}


def find_violations(tree: ast.Module) -> Iterator[str]:
    """Yield each expression of a module that could create Code without an encoder."""
    annotations = {id(part) for node in ast.walk(tree) for part in _annotations(node)}
    for node in ast.walk(tree):
        location = f"line {getattr(node, 'lineno', 0)}"
        match node:
            case ast.Name(id=name) | ast.Attribute(attr=name) if name in CODE_CLASSES:
                if id(node) not in annotations and not _is_isinstance_type(node, tree):
                    yield f"{location}: uses {name} for more than a type"
            case ast.Attribute(attr="__new__" | "__class__" | "__subclasses__"):
                if _is_code_attribute(node):
                    yield f"{location}: {ast.unparse(node)}"
            case ast.ImportFrom(module=module, names=names):
                yield from _check_imports(module or "", names, location)
            case ast.Import(names=names):
                for name in names:
                    if name.name.startswith(("markupsafe", "toolcast.encoders")):
                        yield f"{location}: imports the whole module {name.name}"
            case ast.Call(func=function, args=arguments):
                name = ast.unparse(function).rpartition(".")[2]
                if name in ("import_module", "__import__"):
                    text = " ".join(map(ast.unparse, arguments))
                    if "markupsafe" in text or "encoders" in text:
                        yield f"{location}: imports an encoder by its name"
                if name in TEMPLATE_FUNCTIONS and not _is_constant(arguments[0], tree):
                    yield f"{location}: the first argument of {name}() is no constant"


def _annotations(node: ast.AST) -> Iterator[ast.AST]:
    for field in ("annotation", "returns"):
        value = getattr(node, field, None)
        if isinstance(value, ast.AST):
            yield from ast.walk(value)
    if isinstance(node, ast.Subscript):
        # `list[Code]` is a type also outside of annotations.
        yield from ast.walk(node.slice)


def _is_isinstance_type(node: ast.AST, tree: ast.Module) -> bool:
    """Return whether a node is the second argument of `isinstance`."""
    return any(
        isinstance(call, ast.Call)
        and ast.unparse(call.func) == "isinstance"
        and node in call.args[1:]
        for call in ast.walk(tree)
    )


def _is_code_attribute(node: ast.Attribute) -> bool:
    return node.attr == "__new__" or "code" in ast.unparse(node.value).lower()


def _check_imports(module: str, names: list[ast.alias], location: str) -> Iterator[str]:
    submodule = module.rpartition("encoders")[2] if "encoders" in module else None
    for name in names:
        if module == "markupsafe":
            yield f"{location}: imports {name.name} of markupsafe"
        is_internal = name.name.startswith("_") or (
            submodule in (".layout", ".python_strings")
            and name.name not in SHARED_NAMES
        )
        if submodule is not None and is_internal:
            yield f"{location}: imports {name.name}, which is internal to the encoders"
        if name.name in CODE_CLASSES and name.asname:
            yield f"{location}: imports {name.name} under another name"


def _is_constant(node: ast.expr, tree: ast.Module) -> bool:
    """Return whether a node is a string or a name with a single constant value."""
    if isinstance(node, ast.Name):
        values = [
            statement.value
            for statement in tree.body
            if isinstance(statement, ast.Assign)
            and [ast.unparse(target) for target in statement.targets] == [node.id]
        ]
        return len(values) == 1 and isinstance(values[0], ast.Constant)
    return isinstance(node, ast.Constant) and isinstance(node.value, str)


def test_no_generator_module_outside_the_encoders_creates_code_objects() -> None:
    assert_none(
        f"{file.parent.name}/{file.name}: {violation}"
        for file in OTHER_FILES
        # Parsing is slow, and every violation contains one of these words.
        if WORDS.search(text := file.read_text("utf-8"))
        for violation in find_violations(ast.parse(text))
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
def test_source_check_reports_python_that_could_create_code_outside_the_encoders(
    text: str,
) -> None:
    """`Code` is a string type for text that an encoder made safe for a file format."""
    assert WORDS.search(text)
    assert list(find_violations(ast.parse(text)))


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
def test_source_check_accepts_code_as_a_type_and_encoder_calls(text: str) -> None:
    assert list(find_violations(ast.parse(text))) == []


def test_creating_a_code_object_outside_the_encoders_raises_unencoded_text_error() -> (
    None
):
    """`Code` is a string type for text that an encoder made safe for a file format."""
    with pytest.raises(UnencodedTextError, match="only encoders may create it"):
        Code("text")
    with pytest.raises(UnencodedTextError):
        encode_inline("x").__class__("text")
    with pytest.raises(UnencodedTextError):
        list(map(Code, ["text"]))
    for text in ("text", Markup("text")):
        with pytest.raises(UnencodedTextError):
            interpolate("{}", text)  # type: ignore[arg-type]


def test_translate_on_a_code_object_raises_unencoded_text_error() -> None:
    with pytest.raises(UnencodedTextError):
        encode_inline("x").translate({ord("x"): '"""'})


def test_module_named_similarly_to_markupsafe_or_the_encoders_cannot_create_code() -> (
    None
):
    for name in ("markupsafe_more", "markupsafe2.inner", "toolcast.encoders_too"):
        with pytest.raises(UnencodedTextError):
            eval("Code('text')", {"__name__": name, "__package__": name, "Code": Code})
