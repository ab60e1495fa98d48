"""Redaction of secret arguments for the ledger, by schema keywords and by names."""

from __future__ import annotations

import json
from typing import Any

import pytest

from toolcast_runtime.ledger.secret_arguments import (
    REDACTED,
    Redaction,
    _get_last_name_part,
    _parse_scalar,
    _RedactedCopy,
    classify_name,
)

TEXT = {"type": "string"}
SECRET = {"type": "string", "writeOnly": True}
REFERENCE = {"properties": {"x": {"$ref": "#s"}}}


def redact_secret(schema: dict[str, Any], value: Any) -> Any:
    """Redact a value, assert that `s3cret` is removed, and return the result."""
    redacted = Redaction({"type": "object", **schema}).redact(value)
    assert "s3cret" not in str(redacted)
    return redacted


@pytest.mark.parametrize(
    "schema",
    [
        {"properties": {"x": SECRET}},
        {"properties": {"x": {"format": "password"}}},
        {"properties": {"x": {"$ref": "#/$defs/s"}}, "$defs": {"s": SECRET}},
        {**REFERENCE, "$defs": {"s": {"$anchor": "s", **SECRET}}},
        {"properties": {"x": {"$ref": "#/properties/y"}, "y": SECRET}},
        {"properties": {"x": {"anyOf": [{"type": "null"}, SECRET]}}},
        {"properties": {"x": {"allOf": [{"oneOf": [SECRET]}]}}},
        {"properties": {"x": {"if": {"type": "string"}, "then": SECRET}}},
        {"allOf": [{"properties": {"x": SECRET}}]},
        {"dependentSchemas": {"y": {"properties": {"x": SECRET}}}},
        {
            "properties": {"x": {"$ref": "#/$defs/a"}},
            "$defs": {"a": {"$ref": "#/$defs/b"}, "b": SECRET},
        },
        {"additionalProperties": SECRET},
        {"patternProperties": {"^x": SECRET}},
        {"writeOnly": True},
        {"properties": {"x": {"type": "string", "writeOnly": "true"}}},
    ],
)
def test_argument_marked_as_secret_is_redacted(schema: dict[str, Any]) -> None:
    """`writeOnly` and `format: password` are found in references and combinators."""
    redact_secret(schema, {"x": "s3cret"})


def test_ledger_redacts_only_the_secret_items_and_properties_in_an_argument() -> None:
    schema = {"properties": {"x": {"type": "array", "items": SECRET}, "y": TEXT}}
    redacted = redact_secret(schema, {"x": ["s3cret"], "y": "seen"})
    assert redacted == {"x": REDACTED, "y": "seen"}
    deep = {"properties": {"x": {"properties": {"y": SECRET, "z": TEXT}}}}
    value = {"x": {"y": "s3cret", "z": "seen"}}
    assert redact_secret(deep, value) == {"x": {"y": REDACTED, "z": "seen"}}


@pytest.mark.parametrize(
    "schema",
    [
        {**REFERENCE, "$defs": {"a": {"id": "#s", **SECRET}}},
        {**REFERENCE, "$defs": {"a": {"$id": "#s", **SECRET}}},
        {
            "properties": {"x": {"$dynamicRef": "#s"}},
            "$defs": {"a": {"$dynamicAnchor": "s", **SECRET}},
        },
        {
            "properties": {"x": {"$ref": "s.json"}},
            "$defs": {"a": {"$id": "s.json", **SECRET}},
        },
        {
            **REFERENCE,
            "$defs": {"a": {"$anchor": "s"}, "b": {"$anchor": "s", **SECRET}},
        },
        {"$recursiveRef": "#", "properties": {"x": {"items": SECRET}}},
        {"properties": {"x": {"$ref": "#/$defs/gone"}}},
        {"properties": {"x": {"$ref": "https://example.org/secret.json"}}},
    ],
)
def test_argument_with_a_secret_reference_is_redacted(schema: dict[str, Any]) -> None:
    """Values with an unresolvable reference count as secret."""
    redact_secret(schema, {"x": "s3cret"})


@pytest.mark.parametrize(
    "name",
    """
    password apiKey API_KEY access-token Client.Secret otp userPassword new_password
    tokens authorization Authorization apiKeys client-secret PIN userPIN card_pin
    password2 passwordHash userpassword accesstoken APIKey JWTToken token_value
    x-api-key proxy-authorization db.password login_credentials_json set-cookie
    credit_card_number recoveryCodes secret_santa password_hint auth ｐassword
    tokenV2 api_token_v2 token_2 pass_word passWord smtp_creds pass_phrase2
    db_pass smtpPass session_id sessionId PHPSESSID kms_key openaiKey deploy-keys pin_number
    пароль парольПользователя рassword pаsswоrd PÀSSWORD contraseña Hasło şifre Kennwort mot_de_passe
    mật_khẩu رمز_عبور 密码 登录密码 パスワード 비밀번호 كلمة_المرور סיסמה รหัสผ่าน पासवर्ड συνθηματικό API密钥
    token_old tokenNew jwt2 passwd1 github_pat connection_string X-CSRF csrf_token mfa_code
    """.split(),
)
def test_ledger_redacts_a_value_with_a_secret_name_without_a_schema(name: str) -> None:
    nested = {"more": [[{name: ["s3cret"]}]]}
    redact_secret(
        {}, {name: "s3cret", "list": [{name: {"deep": "s3cret"}}], "x": nested}
    )


@pytest.mark.parametrize(
    "value",
    [
        {"name": "Authorization", "value": "Bearer s3cret"},
        {"Key": "Authorization", "Value": "s3cret"},
        {"header": "X-Api-Key", "content": "s3cret"},
        {"field": "password", "value": "s3cret"},
        {"fieldName": "password", "newValue": "s3cret"},
        {"key": "api_key", "values": ["s3cret"]},
        {"param": "session_id", "op": "=", "val": "s3cret"},
        {"element": "Password input", "ref": "e12", "text": "s3cret"},
        {"type": "password", "id": "f1", "default": "s3cret"},
        {"k": "Authorization", "v": "s3cret"},
        {"field": "password", "old": "s3cret", "new": "s3cret"},
        {"columns": ["user", "password"], "rows": [["bo", "s3cret"]]},
        {"keys": ["user", "password"], "values": ["bo", "s3cret"]},
        ["Authorization", "s3cret"],
        ["Authorization", ["s3cret"]],
        ["Accept", "text/html", "Authorization", "s3cret", "Host", "a"],
        [["user", "bo"], ["password", "s3cret"]],
        ["password", "=", "s3cret"],
        ["tool", "--password", "s3cret", "--verbose"],
    ],
)
def test_ledger_redacts_the_value_in_a_pair_with_a_secret_name(value: Any) -> None:
    """Pairs are objects with a name field, rows under column names and list items."""
    redact_secret({}, {"x": value})


def test_ledger_keeps_the_name_and_further_fields_in_a_secret_name_value_pair() -> None:
    header = {"name": "Authorization", "value": "s3cret", "on": "GET"}
    assert redact_secret({}, {"x": header}) == {"x": {**header, "value": REDACTED}}
    redacted = redact_secret({}, {"x": "https://a.example/?token=s3cret&page=2"})
    assert redacted == {"x": f"https://a.example/?token={REDACTED}&page=2"}


def test_ledger_redacts_a_number_with_a_secret_name() -> None:
    value = {"pin": 1234, "password": 1234, "otp": 123456, "token": 99}
    assert redact_secret({}, value) == dict.fromkeys(value, REDACTED)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        *((name, "x") for name in """
            token_type next_page_token continuationToken tokenizer author key primary_key
            keyword secretary pinned pin_id spinning monkey keyboard issueKey s3_key key_id
            passenger pass_rate bypass path pattern session имя пол naïve 鍵盤
            """.split()),
        ("token_count", 12),
        ("max_tokens", 500),
        ("maxTokens", "500"),
        ("tokens", 500),
        ("stop_tokens", ["x"]),
        ("password_length", 12),
        ("reset_password", True),
        ("password", None),
        ("sort_keys", ["a"]),
        ("ids_or_keys", ["a"]),
        ("pins", ["x"]),
        ("filter", {"field": "name", "value": "Ada"}),
        ("pair", ["Accept", "text/html"]),
        ("fields", ["id", "password", "email"]),
        ("todo", ["Reset the password", "Call Ada"]),
        ("cell", {"name": "title", "value": "x", "text": "y"}),
        ("sizes", {"keys": ["a", "b"], "values": [1, 2]}),
    ],
)
def test_ledger_keeps_a_value_with_a_harmless_name(name: str, value: Any) -> None:
    assert Redaction({}).redact({name: value}) == {name: value}


def test_ledger_redaction_with_a_recursive_schema_ends() -> None:
    schema: dict[str, Any] = {
        "properties": {"x": {"$ref": "#/$defs/a"}},
        "$defs": {"a": {"anyOf": [{"$ref": "#/$defs/a"}, {"$ref": "#"}]}},
    }
    assert Redaction(schema).redact({"x": {"x": 1}}) == {"x": {"x": 1}}


def test_ledger_redaction_keeps_long_lists_and_texts_without_secrets() -> None:
    items = [f"word{n}" for n in range(20_000)]
    value = {"words": items, "text": " ".join(f"{word}: x" for word in items)}
    assert Redaction({}).redact(value) == value


@pytest.mark.parametrize(
    ("secret", "names"),
    [
        (
            "any",
            "password password2 accesstoken authToken card_number 密码 passwordHash tokenV2"
            " secret_key key_secret oldPassword mfa_code2 page_access_token",
        ),
        (
            "text",
            "tokens kms_key deploy_keys db_pass PHPSESSID session_id reset_password_later"
            " api_key_count tokens_value connection_string primary_user_key",
        ),
        (
            "none",
            "key keys data pass_rate primary_key page_token next_page_tokens value key_value"
            " token_count 7 _ sort_key_value",
        ),
    ],
)
def test_classify_name_returns_whether_any_value_only_text_or_no_value_is_secret(
    secret: str, names: str
) -> None:
    assert {name: classify_name(name) for name in names.split()} == dict.fromkeys(
        names.split(), secret
    )


def test_ledger_redacts_a_value_whose_name_exceeds_256_characters() -> None:
    value = {"x" * 256: "seen", "y": "seen"}
    assert Redaction({}).redact(value) == value
    redacted = Redaction({}).redact({"x" * 257: "text", "y": "seen"})
    assert redacted == {"x" * 257: REDACTED, "y": "seen"}


def test_ledger_redacts_values_after_50_000_name_characters() -> None:
    """Names count as their length plus ten, and repeated names once."""
    value = {f"{number:x>90}": "seen" for number in range(500)}
    assert Redaction({}).redact([value] * 2) == [value] * 2
    del value[f"{499:x>90}"]
    longer = {**value, f"{499:x>91}": "seen"}
    assert Redaction({}).redact(longer) == {**value, f"{499:x>91}": REDACTED}


def test_secret_name_in_a_name_value_pair_is_detected_up_to_64_characters() -> None:
    """Longer texts are not names, so their values are not redacted."""
    for length, value in ((64, REDACTED), (65, "s3cret")):
        pair = {"name": "password".rjust(length, "x"), "value": "s3cret"}
        assert Redaction({}).redact(pair)["value"] == value


def test_ledger_redacts_long_texts_above_300_000_characters_in_total() -> None:
    """Texts of 64 characters or less are not counted."""
    short = ["x" * 64] * 10
    value = [*short, "y" * 65, "z" * (300_000 - 65), "x"]
    assert Redaction({}).redact(value) == value
    above = [*short, "y" * 65, "z" * (300_000 - 64), "x"]
    assert Redaction({}).redact(above) == [*short, "y" * 65, REDACTED, "x"]


@pytest.mark.parametrize(
    ("items", "expected"),
    [
        (["Cookie", "a", "Via", "b"], ["Cookie", REDACTED, "Via", "b"]),
        (["Via", "Cookie", "a", "b"], ["Via", "Cookie", "a", "b"]),
        (["Via", "Cookie", "a"], ["Via", "Cookie", "a"]),
        (["password", "=", "a"], ["password", REDACTED, REDACTED]),
        (["a", "--pin", "1", "2", "3"], ["a", "--pin", REDACTED, "2", "3"]),
        (["nice", "-n", "mysql", "-pa"], ["nice", "-n", "mysql", REDACTED]),
        (["nice", "-n", "1", "mysql", "-pa"], ["nice", "-n", "1", "mysql", "-pa"]),
        (["Cookie"], ["Cookie"]),
        ([["Cookie", "a"], 1], [["Cookie", REDACTED], 1]),
    ],
)
def test_ledger_redacts_the_list_item_after_a_header_or_option_with_a_secret_name(
    items: list[Any], expected: Any
) -> None:
    """Header names must be at an even index; options redact the next item."""
    assert Redaction({}).redact(items) == expected


def test_secrets_in_json_text_are_found_by_the_ledger_up_to_200_levels() -> None:
    """The levels of the value and of other JSON text that contain it are counted too."""
    redaction = Redaction({"properties": {"x": SECRET}})
    for depth, is_found in ((196, True), (197, False)):
        text = "[" * depth + '{"x": "s3cret"}' + "]" * depth
        assert ("s3cret" not in redaction.redact({"text": text})["text"]) is is_found
        assert ("s3cret" not in redaction.redact([text])[0]) is is_found
    for depth, is_found in ((195, True), (196, False)):
        text = "[" * depth + json.dumps('{"x": "s3cret"}') + "]" * depth
        assert ("s3cret" not in redaction.redact([text])[0]) is is_found


def test_ledger_redacts_all_arguments_if_the_schema_has_over_20_000_nodes() -> None:
    """The schema, its list and the list's items are counted."""
    for items, expected in ((19_998, {"a": 1}), (19_999, REDACTED)):
        assert Redaction({"x": [1] * items}).redact({"a": 1}) == expected


@pytest.mark.parametrize(
    ("name", "last"),
    [
        ("values", "value"),
        ("newValue", "value"),
        ("new_value__", "value"),
        ("URLS", "url"),
        ("value2", "value2"),
        ("x" * 20 + "_v", "v"),
        ("a" * 17, "a" * 16),
        ("___", ""),
    ],
)
def test_last_name_part_is_lower_case_and_singular(name: str, last: str) -> None:
    """At most 16 characters are used."""
    assert _get_last_name_part(name) == last


def test_ledger_redacts_texts_after_100_000_classified_names() -> None:
    """Further names inside texts are not classified."""
    copy = _RedactedCopy(frozenset())
    assert copy._remaining_names == 100_000
    copy._remaining_names = 1
    assert copy._is_secret_in_text("a", "") is not None
    copy._remaining_names = 0
    assert copy._is_secret_in_text("a", "") is None


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("12,", 12),
        ("1234567890", 123456789),
        ("True;", True),
        ("none)", None),
        ("null", None),
        ("x", "x"),
        ("1.5", "1.5"),
    ],
)
def test_scalar_in_text_is_parsed_as_yaml_for_redaction(text: str, value: Any) -> None:
    """Integers of up to 9 digits, booleans and null are parsed; other text is a string."""
    assert _parse_scalar(text) == value
