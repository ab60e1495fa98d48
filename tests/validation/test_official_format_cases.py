"""The format cases of the official JSON Schema test suite.

`json_schema_test_suite/` has those of the asserted formats:
`tests/draft2020-12/optional/format` of
https://github.com/json-schema-org/JSON-Schema-Test-Suite at 44401e0c, without comments.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from toolcast_runtime.core.validation.checker import Checker
from toolcast_runtime.core.validation.compiled import ASSERTED_FORMATS

FOLDER = Path(__file__).with_name("json_schema_test_suite")
FILES = sorted(FOLDER.glob("*.json"))


def test_every_asserted_format_has_json_schema_test_suite_cases() -> None:
    own = {"decimal"}  # The format `decimal` is defined by OpenAPI.
    assert {file.stem for file in FILES} | own == {
        *ASSERTED_FORMATS,
        "ecmascript-regex",
    }


@pytest.mark.parametrize("file", FILES, ids=lambda file: str(file.stem))
def test_json_schema_test_suite_format_cases_have_official_result(file: Path) -> None:
    for group in json.loads(file.read_text(encoding="utf-8")):
        checker = Checker(group["schema"], asserts_formats=True)
        for case in group["tests"]:
            is_valid = not checker.problems(case["data"])
            assert is_valid == case["valid"], (case["description"], case["data"])
