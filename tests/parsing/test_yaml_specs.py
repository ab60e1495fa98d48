"""The YAML reader of generated tests, which agrees with the generator's reader."""

from __future__ import annotations

from pathlib import Path

import pytest

from toolcast.encoders.json_text import encode_json
from toolcast.parsing.yaml_reader import read_yaml
from toolcast_runtime.testing.generated_package import parse_exact_json
from toolcast_runtime.testing.yaml_specs import read_spec

ROOT = Path(__file__).parents[2]
FOLDERS = ("specs", "tests/rules", "tests/hostile", "tests/platform/project/specs")


def test_generated_tests_read_spec_returns_the_same_values_as_read_yaml() -> None:
    """Compare both readers for every YAML file in the repository's projects."""
    count = 0
    for folder in FOLDERS:
        for file in (ROOT / folder).rglob("*.yaml"):
            document, findings = read_yaml(file.name, file.read_bytes())
            if document is not None and not findings:
                assert (
                    read_spec(file)
                    == parse_exact_json(encode_json({"": document.value}))[""]
                )
                count += 1
    assert count > 300


@pytest.mark.parametrize("text", ["a: &b 1\nc: *b\n", "a: !!str 1\n", "a: !x {}\n"])
def test_generated_tests_read_spec_rejects_tags_anchors_and_aliases(
    tmp_path: Path, text: str
) -> None:
    (tmp_path / "spec.yaml").write_text(text, "utf-8")
    with pytest.raises(ValueError, match="a tag, an anchor or an alias"):
        read_spec(tmp_path / "spec.yaml")


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("-0", {"number": "0"}),
        ("1.50", {"number": "1.5"}),
        ("1.0e+2", {"number": "100.0"}),
        ("0.0000001", {"number": "1e-7"}),
        ("0.00001", {"number": "0.00001"}),
        ("100000000000000000000", {"number": "100000000000000000000"}),
        ('"1"', "1"),
        ("no", "no"),
        ("~", None),
        ("True", True),
    ],
)
def test_generated_tests_read_spec_converts_plain_scalars_to_json_values(
    tmp_path: Path, text: str, value: object
) -> None:
    """Write numbers in the generator's notation, such as `1e-7`."""
    (tmp_path / "spec.yaml").write_text(f"a: {text}\n", "utf-8")
    assert read_spec(tmp_path / "spec.yaml") == {"a": value}
