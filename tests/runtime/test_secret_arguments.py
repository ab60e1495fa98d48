"""What a spec marks as secret never reaches the ledger."""

from __future__ import annotations

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
HIDDEN = {"type": "string", "writeOnly": True}


def hidden(schema: dict[str, Any], value: Any) -> Any:
    shown = Redaction({"type": "object", **schema}).redact(value)
    assert "s3cret" not in str(shown)
    return shown


@pytest.mark.parametrize(
    "schema",
    [
        {"properties": {"x": HIDDEN}},
        {"properties": {"x": {"format": "password"}}},
        {"properties": {"x": {"$ref": "#/$defs/s"}}, "$defs": {"s": HIDDEN}},
        {
            "properties": {"x": {"$ref": "#s"}},
            "$defs": {"s": {"$anchor": "s", **HIDDEN}},
        },
        {"properties": {"x": {"$ref": "#/properties/y"}, "y": HIDDEN}},
        {"properties": {"x": {"anyOf": [{"type": "null"}, HIDDEN]}}},
        {"properties": {"x": {"allOf": [{"oneOf": [HIDDEN]}]}}},
        {"properties": {"x": {"if": {"type": "string"}, "then": HIDDEN}}},
        {"allOf": [{"properties": {"x": HIDDEN}}]},
        {"dependentSchemas": {"y": {"properties": {"x": HIDDEN}}}},
        {
            "properties": {"x": {"$ref": "#/$defs/a"}},
            "$defs": {"a": {"$ref": "#/$defs/b"}, "b": HIDDEN},
        },
        {"additionalProperties": HIDDEN},
        {"patternProperties": {"^x": HIDDEN}},
        {"writeOnly": True},
        {"properties": {"x": {"type": "string", "writeOnly": "true"}}},
    ],
)
def test_marks_are_found_wherever_they_stand(schema: dict[str, Any]) -> None:
    hidden(schema, {"x": "s3cret"})


def test_members_are_hidden_with_the_argument_that_holds_them() -> None:
    schema = {"properties": {"x": {"type": "array", "items": HIDDEN}, "y": TEXT}}
    assert hidden(schema, {"x": ["s3cret"], "y": "seen"}) == {
        "x": REDACTED,
        "y": "seen",
    }
    deep = {"properties": {"x": {"properties": {"y": HIDDEN, "z": TEXT}}}}
    value = {"x": {"y": "s3cret", "z": "seen"}}
    assert hidden(deep, value) == {"x": {"y": REDACTED, "z": "seen"}}


@pytest.mark.parametrize(
    "schema",
    [
        {"properties": {"x": {"$ref": "#s"}}, "$defs": {"a": {"id": "#s", **HIDDEN}}},
        {"properties": {"x": {"$ref": "#s"}}, "$defs": {"a": {"$id": "#s", **HIDDEN}}},
        {
            "properties": {"x": {"$dynamicRef": "#s"}},
            "$defs": {"a": {"$dynamicAnchor": "s", **HIDDEN}},
        },
        {
            "properties": {"x": {"$ref": "s.json"}},
            "$defs": {"a": {"$id": "s.json", **HIDDEN}},
        },
        {
            "properties": {"x": {"$ref": "#s"}},
            "$defs": {"a": {"$anchor": "s"}, "b": {"$anchor": "s", **HIDDEN}},
        },
        {"$recursiveRef": "#", "properties": {"x": {"items": HIDDEN}}},
        {"properties": {"x": {"$ref": "#/$defs/gone"}}},
        {"properties": {"x": {"$ref": "https://example.org/secret.json"}}},
    ],
)
def test_references_of_every_dialect_are_followed(schema: dict[str, Any]) -> None:
    """What a reference describes that leads nowhere counts as secret."""
    hidden(schema, {"x": "s3cret"})


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
def test_names_are_enough(name: str) -> None:
    hidden({}, {name: "s3cret", "list": [{name: {"deep": "s3cret"}}]})
    hidden({"additionalProperties": True}, {"x": {"more": [[{name: ["s3cret"]}]]}})


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
def test_a_name_beside_its_value_is_enough(value: Any) -> None:
    hidden({}, {"x": value})


def test_only_the_value_beside_the_name_is_hidden() -> None:
    shown = hidden({}, {"x": {"name": "Authorization", "value": "s3cret", "on": "GET"}})
    assert shown == {"x": {"name": "Authorization", "value": REDACTED, "on": "GET"}}
    shown = hidden({}, {"x": ["Host", "a", "Cookie", "s3cret", "Via", "b"]})
    assert shown == {"x": ["Host", "a", "Cookie", REDACTED, "Via", "b"]}
    shown = hidden({}, {"x": "https://a.example/?token=s3cret&page=2"})
    assert shown == {"x": f"https://a.example/?token={REDACTED}&page=2"}


def test_a_number_is_secret_where_its_name_says_nothing_else() -> None:
    value = {"pin": 1234, "password": 1234, "otp": 123456, "token": 99}
    assert hidden({}, value) == dict.fromkeys(value, REDACTED)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("token_count", 12),
        ("max_tokens", 500),
        ("maxTokens", "500"),
        ("tokens", 500),
        ("token_type", "word"),
        ("next_page_token", "p2"),
        ("continuationToken", "c"),
        ("stop_tokens", ["x"]),
        ("tokenizer", "bpe"),
        ("password_length", 12),
        ("reset_password", True),
        ("password", None),
        ("author", "Ada"),
        ("key", "k"),
        ("primary_key", "id"),
        ("keyword", "k"),
        ("secretary", "Bo"),
        ("pinned", "yes"),
        ("pin_id", "7"),
        ("spinning", "x"),
        ("monkey", "x"),
        ("keyboard", "x"),
        ("issueKey", "ABC-1"),
        ("s3_key", "a/b.txt"),
        ("sort_keys", ["a"]),
        ("ids_or_keys", ["a"]),
        ("key_id", "x"),
        ("passenger", "Ada"),
        ("pass_rate", "high"),
        ("bypass", "x"),
        ("path", "x"),
        ("pattern", "x"),
        ("session", "x"),
        ("pins", ["x"]),
        ("filter", {"field": "name", "value": "Ada"}),
        ("pair", ["Accept", "text/html"]),
        ("fields", ["id", "password", "email"]),
        ("todo", ["Reset the password", "Call Ada"]),
        ("cell", {"name": "title", "value": "x", "text": "y"}),
        ("имя", "Ада"),
        ("пол", "x"),
        ("naïve", "x"),
        ("鍵盤", "x"),
        ("sizes", {"keys": ["a", "b"], "values": [1, 2]}),
    ],
)
def test_honest_values_are_kept(name: str, value: Any) -> None:
    assert Redaction({}).redact({name: value}) == {name: value}


def test_what_is_not_marked_is_kept_as_it_was_sent() -> None:
    schema = {"properties": {"page_token": TEXT, "n": {"type": "number"}}}
    value = {"page_token": "p2", "n": 1.0, "more": [None, True, {"a": "b"}]}
    assert Redaction(schema).redact(value) == value


def test_schemas_that_come_back_to_themselves_end() -> None:
    schema: dict[str, Any] = {
        "properties": {"x": {"$ref": "#/$defs/a"}},
        "$defs": {"a": {"anyOf": [{"$ref": "#/$defs/a"}, {"$ref": "#"}]}},
    }
    assert Redaction(schema).redact({"x": {"x": 1}}) == {"x": {"x": 1}}


def test_a_schema_that_is_too_large_to_be_sure_hides_everything() -> None:
    schema = {"properties": {f"p{n}": {"type": "string"} for n in range(30_000)}}
    assert Redaction(schema).redact({"p1": "s3cret"}) == REDACTED


def test_names_that_are_too_long_or_too_many_to_be_read_are_secret() -> None:
    long = "x" * 300
    assert hidden({}, {long: "s3cret", "y": "seen"}) == {long: REDACTED, "y": "seen"}
    shown = hidden({}, {"y": "seen", **{f"x{n}": "text" for n in range(10_000)}})
    assert shown["y"] == shown["x99"].replace("text", "seen") == "seen"
    assert shown["x9999"] == REDACTED
    rows = [{"name_of_a_column": "seen"}] * 20_000
    assert hidden({}, {"rows": rows}) == {"rows": rows}


def test_many_words_in_lists_and_texts_are_kept() -> None:
    words = [f"word{n}" for n in range(20_000)]
    value = {"words": words, "text": " ".join(f"{word}: x" for word in words)}
    assert Redaction({}).redact(value) == value


def test_texts_that_take_long_to_read_are_hidden() -> None:
    text = "word " * 40_000
    shown = Redaction({}).redact({"first": text, "second": text, "third": "word"})
    assert shown == {"first": text, "second": REDACTED, "third": "word"}


@pytest.mark.parametrize(
    ("secret", "names"),
    [
        (
            "any",
            "password password2 accesstoken authToken card_number 密码 passwordHash tokenV2"
            " secret_key key_secret oldPassword mfa_code2",
        ),
        (
            "text",
            "tokens kms_key deploy_keys db_pass PHPSESSID session_id reset_password_later"
            " api_key_count tokens_value connection_string",
        ),
        (
            "none",
            "key keys data pass_rate primary_key page_token next_page_tokens value key_value"
            " token_count 7 _ sort_key_value",
        ),
    ],
)
def test_a_name_says_what_of_its_values_is_secret(secret: str, names: str) -> None:
    assert {name: classify_name(name) for name in names.split()} == dict.fromkeys(
        names.split(), secret
    )


@pytest.mark.parametrize(("length", "is_read"), [(256, True), (257, False)])
def test_a_name_of_256_characters_is_read(length: int, is_read: bool) -> None:
    value = {"x" * length: "seen"}
    assert (Redaction({}).redact(value) == value) is is_read


@pytest.mark.parametrize(("names", "is_read"), [(500, True), (501, False)])
def test_names_of_fifty_thousand_characters_are_read(names: int, is_read: bool) -> None:
    """Each counts as ten more."""
    value = {f"{number:x>90}": "seen" for number in range(names)}
    assert (Redaction({}).redact(value) == value) is is_read


@pytest.mark.parametrize(("length", "is_read"), [(64, True), (65, False)])
def test_a_name_beside_its_value_has_64_characters_at_most(
    length: int, is_read: bool
) -> None:
    name = "password".rjust(length, "x")
    shown = Redaction({}).redact({"name": name, "value": "s3cret"})
    assert (shown["value"] == REDACTED) is is_read


@pytest.mark.parametrize(("more", "is_read"), [(0, True), (1, False)])
def test_texts_of_three_hundred_thousand_characters_are_read(
    more: int, is_read: bool
) -> None:
    """Those of 64 characters or less are not counted."""
    value = ["x" * 64] * 10 + ["y" * 65, "z" * (300_000 - 65 + more)]
    assert (Redaction({}).redact(value) == value) is is_read


@pytest.mark.parametrize(
    ("items", "shown"),
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
def test_what_follows_a_name_in_a_list_is_hidden(items: list[Any], shown: Any) -> None:
    assert Redaction({}).redact(items) == shown


@pytest.mark.parametrize(("depth", "is_read"), [(196, True), (197, False)])
def test_json_in_a_text_is_read_to_a_depth(depth: int, is_read: bool) -> None:
    """Two hundred levels, with those of the value that the text stands in."""
    schema = {"properties": {"x": HIDDEN}}
    text = "[" * depth + '{"x": "s3cret"}' + "]" * depth
    assert ("s3cret" in Redaction(schema).redact({"text": text})["text"]) is not is_read
    assert ("s3cret" in Redaction(schema).redact([text])[0]) is not is_read


@pytest.mark.parametrize(("more", "is_read"), [(0, True), (1, False)])
def test_a_schema_of_twenty_thousand_parts_is_read(more: int, is_read: bool) -> None:
    """Itself, the list, and what is in it."""
    schema = {"x": [1] * (20_000 - 2 + more)}
    assert (Redaction(schema).redact({"a": 1}) == {"a": 1}) is is_read


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
def test_the_last_word_of_a_name(name: str, last: str) -> None:
    assert _get_last_name_part(name) == last


@pytest.mark.parametrize(("names", "is_hidden"), [(100_000, False), (100_001, True)])
def test_a_hundred_thousand_names_in_texts_are_asked_about(
    names: int, is_hidden: bool
) -> None:
    copy = _RedactedCopy(frozenset())
    copy._remaining_names = 100_000 - names + 1
    assert (copy._is_secret_in_text("a", "") is None) is is_hidden
    assert _RedactedCopy(frozenset())._remaining_names == 100_000


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
def test_a_value_is_meant_as_yaml_has_it(text: str, value: Any) -> None:
    assert _parse_scalar(text) == value
