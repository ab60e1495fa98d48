"""Style rules for names, messages and docs that ruff cannot check; see CONTRIBUTING.md.

Each finder yields a line per violation.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

from tests.module_graph import DISTRIBUTIONS, ROOT, parse_source

PARTICIPLES = frozenset(
    """begun bound brought built done drawn found given gone held kept known left lost made meant
    said seen sent shown taken thrown told written""".split()
)
PARTICLES = frozenset(
    """above after all alone anew any as at before below beside both by each here in of on one
    other others out so there what where who whose why with within without""".split()
)
NOT_PARTICIPLES = frozenset("embed exceed feed need proceed seed speed".split())
BARE = PARTICIPLES | PARTICLES
# A public method: `TOOLS.all("client")` reads as one phrase.
ALLOWED_FUNCTIONS = frozenset(["all"])
# These are clear as names of variables: states, and results of a search.
ALLOWED_VARIABLES = frozenset(
    """after at before below bound built by done found kept known left lost on other others out
    seen sent written __all__""".split()
)
LIMIT = re.compile(
    r"(?:^|_)(?:MOST|LARGEST|LONGEST|LEAST|DEEPEST|FEWEST|WIDEST|PATIENCE)(?:_|$)"
    r"|^_?(?:most|least)(?:_|$)"
)
# JSON Schema's names are object, array, string, integer, number, boolean and null.
JSON_TYPE = re.compile(
    r"\bwhole numbers?\b"
    r"|\b(?:must be|expected|is not|not|is) an? (?:list|text|mapping|dict|dictionary|float|bool|int)\b"
    r"(?! (?:of|in|that|with|from))"
)
FORBIDDEN_WORDS = re.compile(
    r"\b(?:nobody|somebody|anybody|whoever|wherever|whatever|likewise|anew|nowhere|alike"
    r"|mends?|mended|wished|(?:is|are|was|not) told|hears?|heard|former|formerly|any more|but for"
    r"|stands? (?:at|in|on|there)|says? so|held to|be told|left out|"
    r"let in|let go|put off)\b",
    re.IGNORECASE,
)
DOCS = (
    "README.md",
    "SECURITY.md",
    "CONTRIBUTING.md",
    "CHANGELOG.md",
    "docs/*.md",
    "docs/targets/*.md",
    "letta/docs/*.md",
    "generator/toolcast/rules/*.md",
    "letta/toolcast_letta/*.md",
)
CODE = re.compile(r"^( *)(`{3,}).*?^\1\2 *$|`[^`\n]*`", re.DOTALL | re.MULTILINE)

PROPERTY_DECORATORS = frozenset(["property", "cached_property"])


def is_bare(name: str) -> bool:
    """Return whether a name is only a participle, or only a particle."""
    word = name.strip("_")
    is_regular = re.fullmatch(r"[a-z]{3,}ed", word) and word not in NOT_PARTICIPLES
    return word in BARE or bool(is_regular)


def find_bad_names(tree: ast.Module) -> Iterator[str]:
    """Yield the names of functions, variables and limits that do not name a thing."""
    for node in ast.walk(tree):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            if is_bad_function_name(node):
                yield f"{node.lineno}: function `{node.name}`: use verb + object"
        elif isinstance(node, ast.arg):
            yield from find_bad_variable(node.arg, node.lineno)
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield from find_bad_variable(node.id, node.lineno)


def is_bad_function_name(node: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    """Return whether a function has a bare name, or one with `of`; not for properties."""
    if node.name in ALLOWED_FUNCTIONS:
        return False
    decorators = {getattr(d, "id", getattr(d, "attr", "")) for d in node.decorator_list}
    is_property = bool(decorators & PROPERTY_DECORATORS)
    return "of" in node.name.split("_") or (is_bare(node.name) and not is_property)


def find_bad_variable(name: str, line: int) -> Iterator[str]:
    """Yield the violations in the name of a variable, a parameter or a limit."""
    if LIMIT.search(name):
        yield f"{line}: limit `{name}`: use MAX, MIN or TIMEOUT_S"
    if name.strip("_") in BARE and name not in ALLOWED_VARIABLES:
        yield f"{line}: variable `{name}`: name the thing"


def list_messages(tree: ast.Module) -> Iterator[tuple[int, str]]:
    """Yield the string literals with a space, except docstrings, with their lines."""
    docstrings = set()
    for node in ast.walk(tree):
        # A string as a statement is a docstring, also of a constant or an attribute.
        if isinstance(node, ast.Expr):
            docstrings.add(node.value)
        # `ast.walk` yields a statement before its value.
        elif isinstance(node, ast.Constant) and node not in docstrings:
            text = node.value
            if isinstance(text, str) and " " in text:
                yield node.lineno, text


def find_bad_words(text: str) -> Iterator[str]:
    """Yield the words of a text that are in no message or docs page."""
    for pattern, help_ in (
        (JSON_TYPE, "use JSON Schema's type names"),
        (FORBIDDEN_WORDS, "use a technical term"),
    ):
        for match in pattern.finditer(text):
            yield f"`{match[0]}`: {help_}"


def list_sources() -> list[Path]:
    """Return the modules of the three packages."""
    return [
        file
        for folder in DISTRIBUTIONS.values()
        for file in sorted(folder.rglob("*.py"))
    ]


def test_names_in_the_packages_follow_the_style_rules() -> None:
    violations = [
        f"{file.relative_to(ROOT)}:{line}"
        for file in list_sources()
        for line in find_bad_names(parse_source(file))
    ]
    assert not violations, "\n".join(violations)


def test_messages_in_the_packages_use_no_forbidden_words() -> None:
    violations = [
        f"{file.relative_to(ROOT)}:{number}: {problem}"
        for file in list_sources()
        for number, text in list_messages(parse_source(file))
        for problem in find_bad_words(text)
    ]
    assert not violations, "\n".join(violations)


def test_docs_use_no_forbidden_words_outside_code() -> None:
    violations = [
        f"{file.relative_to(ROOT)}: {problem}"
        for pattern in DOCS
        for file in sorted(ROOT.glob(pattern))
        for problem in find_bad_words(CODE.sub("`x`", file.read_text("utf-8")))
    ]
    assert not violations, "\n".join(violations)
