"""The page docs/environment.md: the environment variables that the code reads."""

from __future__ import annotations

import ast
import inspect
import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path

from toolcast.spec_language.spec_language import get_schema
from toolcast_runtime.http import settings as http_settings

FOLDER = Path(__file__).parent
# Variables in the names of which TOOLSET stands for the toolset's name in upper case.
_TOOLSET_VARIABLES = {
    "TOOLSET_TOKEN": "Bearer token of a toolset without `clients`. The value can be several"
    " tokens, separated by white space. Can be a file.",
    "TOOLSET_TOKEN_CLIENT": "Bearer token of a client. `token_variable` of the client sets"
    " another variable name. Can be a file.",
    "TOOLSET_ADMIN_TOKEN": "Bearer token for the administration paths, which are closed"
    " without a token. `admin_token_variable` sets another name. Can be a file.",
    "TOOLSET_ALLOWED_HOSTS": "Host names that clients use, separated by commas, in addition to"
    " `allowed_hosts`. `--host 0.0.0.0` and `app` require the variable or `allowed_hosts`.",
    "TOOLSET_CLIENTS_OVERRIDE": "Path of a JSON or YAML file that changes which tools clients"
    " can access. Replaces `clients_override`.",
    "TOOLSET_LEDGER": "Path of the ledger's SQLite file, or a `postgresql://` URL. Replaces"
    " `ledger.path`. A URL can be in a file.",
    "TOOLSET_PUBLIC_URL": "URL by which clients reach the server, without the endpoint's path."
    " Required for OAuth.",
    "TOOLSET_OAUTH_ISSUER": "Issuer of access tokens. Replaces `oauth.issuer`.",
    "TOOLSET_OAUTH_JWKS_URI": "URL of the issuer's keys. Replaces `oauth.jwks_uri` and the"
    " issuer's metadata.",
    "TOOLSET_OAUTH_INTROSPECTION_URI": "URL for token introspection. Replaces the issuer's"
    " metadata.",
    "TOOLSET_OAUTH_CLIENT_ID": "Client id for token introspection. Can be a file.",
    "TOOLSET_OAUTH_CLIENT_SECRET": "Client secret for token introspection. Can be a file.",
}
_OTHER_VARIABLES = {
    "GITHUB_WORKSPACE": "Checkout folder in GitHub Actions, to which paths in annotations and"
    " SARIF are relative.",
    "LOCALAPPDATA": "Windows: folder of the cache of `toolcast generate` and of the default"
    " ledger.",
    "NO_COLOR": "If set, output on a terminal has no colors.",
    "PYTHONPATH": "Additional import paths for `toolcast check --preflight`.",
    "TIKTOKEN_CACHE_DIR": "Folder with tiktoken's vocabularies, for `toolcast tokens"
    " --encoding`.",
    "TOOLCAST_REQUIRE_SPECS": "If set, the generated snapshot tests fail without the specs"
    " instead of being skipped. Set the variable in CI.",
    "XDG_CACHE_HOME": "Folder of the cache of `toolcast generate`. Default: `~/.cache`.",
    "XDG_STATE_HOME": "Folder of the default ledger. Default: `~/.local/state`.",
}
# Set by a process for its own workers, or read only to find programs and temporary folders.
_INTERNAL_VARIABLES = {"PATH", "TEMP", "TOOLCAST_HTTP_WORKER"}
_ENVIRONMENT_INTRO = """\
# Environment variables

You configure secrets and addresses of a deployment with environment variables. In the names of variables,
`TOOLSET` is the name of the toolset or combined server, and `CLIENT` the client's name. Both names are in
upper case, with `_` for other characters: `MY_TOOLS_TOKEN_SUPPORT`.

A variable that *can be a file* has a second form with `_FILE` at the end. The second form is the path of
a file with the value, for example a Docker secret. Set only one of the two forms.

## Variables of a toolset
"""
_ENVIRONMENT_END = """\

## Variables that the specs name

* A value `${NAME}` or `${NAME:-default}` in `mcp_servers` or `router` of `toolset.yaml` names an
  environment variable. If `NAME` is not set, `NAME_FILE` can name a file with the value.
* `state_key_variable` of the target `mcp` names the variable with the
  [state key](confirmation.md#state-keys). The state key can be in a file.
* `environment` of the target [`package`](targets/package.md) declares variables that your handlers
  read.

Libraries read further variables: `SSL_CERT_FILE` for [external servers](external.md), `OTEL_...` for
[OpenTelemetry](monitoring.md#opentelemetry), and `PG...` for a [ledger](ledger.md) in PostgreSQL.
"""


def build_environment_page() -> str:
    """Return the page of environment variables.

    Raises:
        LookupError: the code reads a variable that the page does not have, or the reverse.
    """
    documented = {*_TOOLSET_VARIABLES, *_OTHER_VARIABLES}
    read = (_toolset_variables() | _process_variables()) - _INTERNAL_VARIABLES
    if documented != read:
        raise LookupError(f"environment variables: {sorted(documented ^ read)}")
    header = ["| Variable | Value |", "| --- | --- |"]
    return "\n".join(
        [
            _ENVIRONMENT_INTRO,
            *header,
            *_variable_rows(_TOOLSET_VARIABLES),
            "\n## Other variables\n",
            *header,
            *_variable_rows(_OTHER_VARIABLES),
            _ENVIRONMENT_END,
        ]
    )


def _variable_rows(variables: Mapping[str, str]) -> Iterator[str]:
    for name, meaning in variables.items():
        yield f"| `{name}` | {meaning} |"


def _toolset_variables() -> set[str]:
    """Return the names with TOOLSET in descriptions of the spec language and the runtime."""
    text = json.dumps(get_schema("toolset")) + inspect.getsource(http_settings)
    suffixes = re.findall(r"`(_(?:OAUTH_[A-Z_]+|PUBLIC_URL))`", text)
    names = {"TOOLSET_TOKEN", *(f"TOOLSET{suffix}" for suffix in suffixes)}
    return names | set(re.findall(r"TOOLSET_[A-Z_]*[A-Z]", text))


def _process_variables() -> set[str]:
    """Return the constant names that the code of both packages looks up in the environment."""
    packages = (FOLDER.parent / "generator", FOLDER.parent / "runtime")
    paths = [
        path for package in packages for path in package.rglob("toolcast*/**/*.py")
    ]
    # Parsing all modules takes seconds; those without the word cannot read a variable.
    sources = [text for path in paths if "environ" in (text := path.read_text("utf-8"))]
    trees = [ast.parse(text) for text in sources]
    constants = {
        target.id: node.value
        for tree in trees
        for node in tree.body
        if isinstance(node, ast.Assign)
        for target in node.targets
        if isinstance(target, ast.Name)
    }
    names = set()
    for node in (node for tree in trees for node in ast.walk(tree)):
        if isinstance(node, ast.Subscript):
            mapping, key = node.value, node.slice
        elif isinstance(node, ast.Call) and node.args:
            mapping, key = node.func, node.args[0]
            if not isinstance(mapping, ast.Attribute) or mapping.attr != "get":
                continue
        else:
            continue
        if "environ" not in ast.unparse(mapping):
            continue
        if isinstance(key, ast.Name):
            key = constants.get(key.id, key)
        if isinstance(key, ast.Constant) and isinstance(key.value, str):
            names.add(key.value)
    return names
