"""Markdown lines: escaping of HTML and link definitions that affect other lines."""

from __future__ import annotations

import pytest

from toolcast_runtime.core.definitions.markdown_line import (
    escape_html,
    escape_markdown_line,
    has_unclosed_html,
)

UNCHANGED = """
plain | a < b | a<1 | <b>x</b> | <b>x | <B>x</b> | </b> | <br> | <br/> | <img src='x'>
<td>x</td> | <TD>x</td> | <tr><td>x</td></tr> | <details>x</details> | <div hidden>x</div>
<b><i>x</i></b> | <b><i>x</b></i> | <tr><b></tr> | <b></i></b> | <p>a | <li>x
<!-- a --> | <https://a.b> | <a@b.c> | x <!-- a --> <!-- b -->
<some_name> | a <some_name> b | a <some_name | <div_x> | - <a<div> | a <q b | a </ b
[a] b | [a\\] | x [a]: b | [a | [a\\b | <b>x</b> [a]: b
"""
# A tag in a code span counts as unclosed HTML, but it is not escaped.
IN_CODE = """
`<td>` | `<td>` x | a `x <td>` b `<!` | ``a ` <td>`` | \\<td> | \\`x` \\<td>
"""
ESCAPED = """
</br> | \\</br>
<td>x | \\<td>x
</td> | \\</td>
<b><td>x</b> | \\<b>\\<td>x\\</b>
<td></td></td> | \\<td>\\</td>\\</td>
<td><tr></td></tr> | \\<td>\\<tr>\\</td>\\</tr>
<div hidden>x | \\<div hidden>x
<b class='x'> | \\<b class='x'>
<a href='x'>y | \\<a href='x'>y
<b style='x'>a</b> | \\<b style='x'>a\\</b>
<b OnClick=x>a</b> | \\<b OnClick=x>a\\</b>
<b onx>a</b> | \\<b onx>a\\</b>
<script>x</script> | \\<script>x\\</script>
<SVG></svg> | \\<SVG>\\</svg>
<!-- a | \\<!-- a
<!----> | \\<!---->
<!-- a ---> | \\<!-- a --->
<x:y | \\<x:y
a <div | a \\<div
a <P b | a \\<P b
a <q b <r c | a \\<q b \\<r c
a <! b | a \\<! b
a <? b | a \\<? b
<b_ <td> | \\<b_ \\<td>
\\`<td>` | \\`\\<td>`
`<td> | `\\<td>
`` <td>` | `` \\<td>`
`<td>` <td> | `<td>` \\<td>
\\\\<td> \\<td> | \\\\\\<td> \\<td>
<<td> | <\\<td>
[a]: b | \\[a]: b
 [a]: b | \\[a]: b
- [a]: b | - \\[a]: b
> 1. [a]: b | > 1. \\[a]: b
123456789) [a]: b | 123456789) \\[a]: b
[a\\]b]: b | \\[a\\]b]: b
[^1]: b | \\[^1]: b
<td> [a]: b | \\<td> [a]: b
"""


def _split(texts: str) -> list[str]:
    return texts.replace("\n", " | ").strip(" |").split(" | ")


@pytest.mark.parametrize("text", _split(UNCHANGED))
def test_html_closed_in_the_same_markdown_line_is_not_escaped(text: str) -> None:
    """Spaces at both ends are removed."""
    assert escape_markdown_line(f" {text} ") == text
    assert not has_unclosed_html(text)


@pytest.mark.parametrize("text", _split(IN_CODE))
def test_html_in_a_markdown_code_span_is_not_escaped(text: str) -> None:
    assert escape_markdown_line(text) == text
    assert has_unclosed_html(text)


@pytest.mark.parametrize("case", ESCAPED.strip("\n").split("\n"))
def test_unclosed_html_and_link_definitions_in_a_line_are_escaped(case: str) -> None:
    text, _, escaped = case.partition(" | ")
    assert escape_markdown_line(text) == escaped
    assert has_unclosed_html(text) is ("<" in text and text.strip() != escaped)


@pytest.mark.parametrize("text", ["a\nb", "a\rb", "\n"])
def test_escape_markdown_line_raises_value_error_for_a_line_break(text: str) -> None:
    with pytest.raises(ValueError, match="a line break"):
        escape_markdown_line(text)


def test_escape_html_skips_code_only_if_every_line_closes_its_code_spans() -> None:
    """HTML is escaped in all lines if a code span is open at the end of one line."""
    assert escape_html(["`<b>` <b>", "<b> `<b>`"]) == ["`<b>` \\<b>", "\\<b> `<b>`"]
    assert escape_html(["`<b>`", "` <b>"]) == ["`\\<b>`", "` \\<b>"]
    assert escape_html(["<b>", "x"]) == ["\\<b>", "x"]
