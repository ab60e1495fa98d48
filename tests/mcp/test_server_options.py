"""Wrong options of a server are told in a line, without a traceback."""

from __future__ import annotations

import pytest

from generated._runtime.mcp_serving import main
from generated.molecule.mcp_server import SERVER


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--port", "99999"], "--port must be a number from 0 to 65535"),
        (["--path", "mcp"], "--path must begin with /"),
        (["--host", "0.0.0.0"], "--host must be a loopback address"),
    ],
)
def test_wrong_options_are_refused(
    words: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ended:
        main(SERVER, ["--http", *words])
    assert ended.value.code == 2
    assert said in capsys.readouterr().err
