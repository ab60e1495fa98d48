"""Redaction of secrets inside texts, such as URLs and commands, for the ledger."""

from __future__ import annotations

import json
import time

import pytest

from toolcast_runtime.ledger.secret_arguments import REDACTED, Redaction

HEADERS = [{"name": "Authorization", "value": "Bearer s3cret"}]


@pytest.mark.parametrize(
    "text",
    [
        '{"user": "bo", "password": "s3cret"}',
        json.dumps({"body": json.dumps({"password": "s3cret"})}),
        json.dumps({"body": json.dumps({"a": json.dumps({"password": 'a"s3cret'})})}),
        json.dumps(HEADERS),
        json.dumps([["Authorization", "s3cret"]]),
        '{"password": "s3cret", "password": null}',
        '{"password": "s3cret", broken',
        '{"cmd": "run --password s3cret"}',
        "{'password': 'a s3cret'}",
        "https://a.example/path?x=1&api_key=s3cret#top",
        "https://a.example/cb#access_token=s3cret",
        "postgres://bo:s3cret@db.example/x",
        "redis://:s3cret@db.example",
        "https://s3cret@github.com/a/b.git",
        "tool --password s3cret --verbose",
        "tool --password=s3cret",
        "tool -password 'a s3cret'",
        "curl -u bo:s3cret https://a.example",
        "curl --user 'bo:s3cret' https://a.example",
        'curl -H "Authorization: Bearer s3cret" https://a.example',
        "curl -H 'X-Api-Key: s3cret' https://a.example",
        "GET / HTTP/1.1\r\nCookie: a=b; id=s3cret\r\n",
        "Authorization: Digest username=bo, response=s3cret",
        "authenticate with Bearer abc.s3cret",
        "Server=db;User Id=bo;Password=s3cret;Port=1",
        "DB_PASS=s3cret ./run",
        "UPDATE users SET password = 'it is s3cret'",
        "login(user='bo', password=\"a s3cret\")",
        "credentials: {user: bo, word: s3cret}",
        "password:\n  s3cret",
        "password := s3cret",
        "password: |\n  a s3cret",
        'headers = {"Authorization": f"Bearer s3cret"}',
        "https://a.example/?sig=s3cret&X-Amz-Signature=s3cret",
        "<user>bo</user><password>a s3cret</password>",
        "machine a.example login bo password s3cret",
        "machine a.example\n\tpassword s3cret\n\tlogin bo",
        'default login bo account x password "a s3cret"',
        "mysqldump -u bo -ps3cret shop > shop.sql",
        "sudo /usr/bin/mysql --host db -p's3cret' -e 'select 1'",
        "7z a -ps3cret out.7z notes",
        "sshpass -p s3cret ssh a.example",
        json.dumps(["mysql", "-u", "bo", "-ps3cret"]),
        "пароль: s3cret",
        "db_ПАРОЛЬ=s3cret",
        "我的密码：s3cret",
        "パスワード=s3cret",
        "-----BEGIN RSA PRIVATE KEY-----\ns3cret\n-----END RSA PRIVATE KEY-----",
    ],
)
def test_ledger_redacts_a_secret_inside_a_url_command_or_other_text(text: str) -> None:
    for value in ({"text": text}, {"list": [text]}):
        redacted = json.dumps(Redaction({}).redact(value))
        assert "s3cret" not in redacted
        assert REDACTED in redacted


def test_ledger_redacts_a_write_only_property_in_json_text() -> None:
    schema = {"properties": {"x": {"type": "string", "writeOnly": True}}}
    assert Redaction(schema).redact({"body": '{"x": "s3cret", "y": "é"}'}) == {
        "body": f'{{"x": "{REDACTED}", "y": "é"}}'
    }


@pytest.mark.parametrize(
    "text",
    [
        "Note: buy milk; due: today",
        "key=value&page=2&next_page_token=abc",
        "max_tokens=500, token_count: 12, tokens: 500",
        "https://a.example:8080/x?q=a@b",
        "ssh://git@github.com/a/b.git",
        "mail bo@a.example at 10:30",
        "The password must have eight letters.",
        "Reset the password, then sign in again.",
        "sort --key 2 --reverse",
        '{"a": 1.0,  "b": [ ]}',
        "if tokens > 3: stop",
        "Basic training, bearer of news",
        "<td>a</td>",
        "docker run -p8080:80 web; mkdir -p a/b",
        "The default password has to be changed.",
        "machine learning, password managers",
        "заметка: купить молоко, 日付: 今日, Größe: 5",
    ],
)
def test_ledger_redaction_does_not_change_a_text_without_a_secret(text: str) -> None:
    assert Redaction({}).redact({"text": text}) == {"text": text}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("{:password => 's3cret', :page => 1}", "{:password => '*', :page => 1}"),
        ("password=>s3cret page=>1", "password=>* page=>1"),
        ("Cookie: a=s3cret\nHost: b", "Cookie: *\nHost: b"),
        ("headers='Cookie: a=s3cret' x", "headers='Cookie: *' x"),
        ('Authorization: "Basic s3cret" then', 'Authorization: "*" then'),
        ("password=true; tokens: 12; page=1", "password=true; tokens: 12; page=1"),
        ("tokens: 12 and tokens: x1", "tokens: 12 and tokens: *"),
        ("--password x --page 2", "--password * --page 2"),
        ("<password>a b</password><x>c</x>", "<password>*</password><x>c</x>"),
        ("mysql -pa -e 'x'; mkdir -p a", "mysql -p* -e 'x'; mkdir -p a"),
        ("a.password=1&b=2", "a.password=*&b=2"),
        ("password == null", "password == null"),
        ("token: False, secret is None", "token: False, secret is None"),
        ("token = [1, 2], b", "token = [*], b"),
        ("Bearer 1234567 or Bearer 12345678", "Bearer 1234567 or Bearer *"),
        ("https://a:b@c.d/e", "https://a:*@c.d/e"),
        ("machine a.b password c d", "machine a.b password * d"),
        ("token=bearer a1b2 page=1", "token=* page=1"),
        ('password="a\\\nb" page=1', 'password="*" page=1'),
        ("password='it\\'s' and page='1'", "password='*' and page='1'"),
    ],
)
def test_redaction_keeps_the_text_around_a_secret(text: str, expected: str) -> None:
    redacted = Redaction({}).redact({"text": text})["text"]
    assert redacted.replace(REDACTED, "*") == expected


@pytest.mark.parametrize(
    "text",
    [
        "a=" * 200_000,
        "password=" * 40_000,
        "-" * 400_000,
        "a" * 400_000,
        '"' * 400_000,
        "\\" * 400_000,
        "://" * 130_000,
        "://a:" * 80_000,
        "<a>" * 130_000,
        "-----BEGIN PRIVATE KEY-----" * 15_000,
        "Bearer " * 50_000,
        "".join(f"k{n}=" for n in range(100_000)),
        "[" * 400_000,
        '{"a":' * 80_000,
        "mysql " * 60_000,
        "mysql\n" * 60_000,
        "machine a login b " * 20_000,
        "machine" + " " * 290_000,
        "密" * 290_000,
        "密码" * 140_000,
        "é=" * 140_000,
    ],
    ids=lambda text: text[:28],
)
def test_ledger_long_text_redaction_takes_bounded_time(text: str) -> None:
    started = time.process_time()
    Redaction({}).redact({"text": text})
    assert time.process_time() - started < 2
