"""Possible values of string expressions, where `?` is an unknown part."""

from __future__ import annotations

import ast
from functools import partial
from pathlib import Path

import pytest

from tests.project_files import write_files
from toolcast.static_analysis.modules import PLACEHOLDER, read_module
from toolcast.static_analysis.resolver import ExpressionScope, Resolver
from toolcast.static_analysis.string_values import find_strings

MODULE = """\
TABLE = "cards"
TABLE = "lessons"
NAMES = ["a", "b"]
KINDS = {"k": "x", "l": "y"}
PAIRS = [("a", "1"), ("b", "2")]
class Queries:
    verb = "SELECT "
    def build(self, table, /, *, tail="."): return self.verb + table + tail
def add(table, end=""): return table + end
def count(text) -> int: return "1"
def nothing(text) -> None: return "1"
def either(text) -> Optional[str]: return text
"""
VALUES = [
    ("'a'", "a"),
    ("1", ""),
    ("unknown", ""),
    ("(name := TABLE)", "lessons"),
    ("'a' if unknown else 'b'", "a b"),
    ("'a' if unknown else 'a'", "a"),
    ("unknown or 'a'", "a"),
    # Concatenation.
    ("'a' + TABLE", "alessons"),
    ("'a' + unknown", "a?"),
    ("unknown + 'a'", "?a"),
    ("unknown + other", ""),
    ("'a' * 2", ""),
    ("f'{TABLE}-{unknown}'", "lessons-?"),
    ("Path('a/') / '/b'", "a/b"),
    ("Path('a', 'b').joinpath('c')", "a/b/c"),
    ("Path()", ""),
    ("urljoin('https://a', 'b')", "https://a/b"),
    ("urljoin()", ""),
    ("os.path.join('a', unknown)", "a/?"),
    ("os.path.join('a')", ""),
    ("'-'.join(['a', unknown])", "a-?"),
    ("'-'.join(NAMES)", "a-b"),
    ("'-'.join({'a', 'b'})", ""),
    ("'-'.join('a', 'b')", ""),
    # Templates.
    ("'%s %d' % (TABLE, unknown)", "lessons ?"),
    ("'%s.' % TABLE", "lessons."),
    ("'%(t)s.' % {'t': TABLE}", "lessons."),
    ("'{} {} {}.'.format('a', TABLE, unknown)", "a lessons ?."),
    ("'{1} {0} {2}'.format('a', 'b')", "b a ?"),
    ("'{t} {u}'.format('a', t='b')", "b ?"),
    ("Template('$t ${u}').substitute(t='a', u='b')", "a b"),
    ("NAMES[unknown].format()", "a b"),
    ("sql.SQL('{}.').format(sql.Identifier('a'))", "a."),
    ("'x.y'.replace('x', unknown)", "?.y"),
    ("'x'.replace('', 'y')", ""),
    ("'x y'.replace('x')", ""),
    # Text that a function or method changes only in details.
    ("str(TABLE)", "lessons"),
    ("str()", ""),
    ("TABLE.upper()", "lessons"),
    # Items of literals.
    ("NAMES[0]", "a"),
    ("NAMES[1]", "b"),
    ("NAMES[-1]", "a b"),
    ("NAMES[2]", "a b"),
    ("NAMES[unknown]", "a b"),
    ("unknown[0]", ""),
    ("(NAMES + ['c'])[2]", "c"),
    ("(NAMES * 2)[0]", ""),
    ("('a', *NAMES)[0]", "a"),
    ("KINDS['k']", "x"),
    ("KINDS['other']", "x y"),
    ("KINDS[0]", "x y"),
    ("KINDS.get('k', 'z')", "x z"),
    ("KINDS.get()", ""),
    ("KINDS.copy()['k']", "x"),
    ("list(KINDS)[0]", "k"),
    ("list()[0]", ""),
    ("list(KINDS.keys())[1]", "l"),
    ("list(KINDS.values())[1]", "y"),
    ("{**KINDS, 'm': 'z'}['m']", "z"),
    ("dict(a='x', **KINDS)['a']", "x"),
    ("dict()['a']", ""),
    ("other(a='x')['a']", ""),
    ("'a,b c'.split()[2]", "c"),
    ("unknown.split()[0]", ""),
    ("''.split()[0]", ""),
    ("[PAIRS, [('c', '3')]][1][0][0]", "c"),
    ("PAIRS[unknown][1]", "1 2"),
    ("'-'.join(PAIRS[unknown])", "a-1 b-2"),
    # Loops.
    ("[name + '.' for name in NAMES][1]", "b."),
    ("[key for key in KINDS][0]", "k"),
    ("[key + value for key, value in KINDS.items()][unknown]", "kx ky lx ly"),
    ("[a + b for a, b in PAIRS][unknown]", "a1 a2 b1 b2"),
    ("[a for *a, b in NAMES][0]", ""),
    ("[name for index, name in enumerate(NAMES)][0]", "a"),
    ("[index for index, name in enumerate(NAMES)][0]", ""),
    ("[y for x, y in zip(NAMES, ['c'])][0]", "c"),
    ("[z for x, y, z in zip(NAMES, ['c'])][0]", ""),
    # Calls of functions in the package.
    ("add('a', 'b')", "ab"),
    ("add('a', end=unknown)", "a?"),
    ("add(NAMES[unknown], 'c')", "ac bc"),
    ("Queries().build('a', tail=';')", "SELECT a;"),
    ("either('a')", "a"),
    ("count('a')", ""),
    ("nothing('a')", ""),
    ("other('a')", ""),
]


def find_values(root: Path, module: str, expression: str) -> list[str]:
    write_files(root / "handlers", {"__init__.py": "", "work.py": module})
    resolver = Resolver(partial(read_module, str(root), (".",)), "handlers")
    python_module = resolver.load_module("handlers.work")
    assert python_module is not None
    node = ast.parse(expression, mode="eval").body
    strings = find_strings(node, ExpressionScope(resolver, python_module))
    return [string.replace(PLACEHOLDER, "?") for string in strings]


@pytest.mark.parametrize(("expression", "values"), VALUES)
def test_string_expression_has_the_listed_values(
    expression: str, values: str, tmp_path: Path
) -> None:
    assert " ".join(find_values(tmp_path, MODULE, expression)) == values


@pytest.mark.parametrize(
    "expression", ["{}", "'' + {}", "f'{{{}}}'", "'{{}}'.format({})", "'%s' % {}"]
)
def test_string_expression_has_at_most_24_values(
    expression: str, tmp_path: Path
) -> None:
    numbers = [str(number) for number in range(25)]
    expression = expression.format("NUMBERS[unknown]")
    values = find_values(tmp_path, f"NUMBERS = {numbers}", expression)
    assert values == numbers[:24]


@pytest.mark.parametrize(("part", "count"), [("'a'", 398), ("['a'][0]", 132)])
def test_string_analysis_visits_at_most_399_expressions(
    part: str, count: int, tmp_path: Path
) -> None:
    """Visited are the call and its parts; an index counts as three expressions."""
    for parts, end in ((count, "/a/a"), (count + 1, "/a/?")):
        expression = "Path(" + f"{part}, " * parts + ")"
        [value] = find_values(tmp_path, "", expression)
        assert value[-4:] == end


@pytest.mark.parametrize(
    ("expression", "link", "count"),
    [
        ("name{}", "{}", 24),
        ("name{}[0]", "{}", 23),
        ("''.join(name{})", "{}", 23),
        ("name{}[0]", "list({})", 12),
        ("name{}[0]", "{} + []", 12),
        ("name{}[0]", "[{}][0]", 12),
        ("name{}[0]", "[item for item in {}]", 6),
    ],
)
def test_string_analysis_follows_at_most_24_names(
    expression: str, link: str, count: int, tmp_path: Path
) -> None:
    """Calls, operators and indexes between the names count, too."""
    first = "'a'" if expression == "name{}" else "['a']"
    links = [f"name{n} = {link.format(f'name{n - 1}')}\n" for n in range(1, 25)]
    module = f"name0 = {first}\n{''.join(links)}"
    chains = [find_values(tmp_path, module, expression.format(n)) for n in range(25)]
    assert [chain == ["a"] for chain in chains].index(False) == count
