"""Commands of tools that return content blocks: printed output and the `--output` option."""

from __future__ import annotations

from pathlib import Path

import click
import pytest
from click.testing import CliRunner, Result

from toolcast_runtime import ToolResponse, audio, file, image, link, text
from toolcast_runtime.cli.terminal import OUTPUT, output_option, print_answer

MIXED_RESPONSE = ToolResponse(
    content=[
        text("Sales grew."),
        image(b"\x89PNG"),
        audio(b"RIFF."),
        file("sales.csv", "month,sales\n1,30"),
        file("new logo.bin", b"\x00\xff"),
        link("policy", "shop://policies/returns", title="Policy"),
    ]
)


def run_command(response: ToolResponse, *args: str) -> Result:
    def run() -> None:
        print_answer(response, click.get_current_context().meta[OUTPUT])

    command = click.Command("tool", callback=run, params=[output_option()])
    return CliRunner().invoke(command, args)


def test_cli_prints_text_and_links_and_names_binary_content_blocks() -> None:
    result = run_command(MIXED_RESPONSE)
    assert result.exit_code == 0
    assert result.stdout.splitlines() == [
        "Sales grew.",
        "[image/png, 4 bytes]",
        "[audio/wav, 5 bytes]",
        "month,sales",
        "1,30",
        "[new logo.bin, application/octet-stream, 2 bytes]",
        "Policy: shop://policies/returns",
    ]
    help_line = "help: `--output FILE` before the command writes this content\n"
    assert result.stderr == help_line


@pytest.mark.parametrize(
    ("response", "stdout", "stderr"),
    [
        (ToolResponse({"é": 1}, note="2 omitted"), '{\n  "é": 1\n}\n', "2 omitted\n"),
        (ToolResponse(content=[file("a.txt", "é")]), "é\n", ""),
        (
            ToolResponse(error="It broke.", content=[text("It broke."), image(b"PNG")]),
            "",
            "[image/png, 3 bytes]\nerror: It broke.\n",
        ),
    ],
)
def test_cli_prints_the_result_to_stdout_and_its_note_or_error_to_stderr(
    response: ToolResponse, stdout: str, stderr: str
) -> None:
    """A text file needs no hint about `--output`."""
    result = run_command(response)
    assert (result.stdout, result.stderr) == (stdout, stderr)
    assert result.exit_code == int(response.error is not None)


@pytest.mark.parametrize(
    ("block", "data"),
    [
        (image(b"\x89PNG"), b"\x89PNG"),
        (audio(b"RIFF."), b"RIFF."),
        (file("a.bin", b"\x00\xff"), b"\x00\xff"),
        (file("a.txt", "é"), "é".encode()),
    ],
)
def test_cli_output_option_writes_the_first_image_audio_or_file_in_a_tool_result(
    tmp_path: Path, block: dict[str, object], data: bytes
) -> None:
    target = tmp_path / "answer"
    response = ToolResponse(content=[text("Here."), block, image(b"second")])
    result = run_command(response, "--output", str(target))
    assert result.exit_code == 0, result.output
    assert target.read_bytes() == data


def test_cli_output_option_writes_image_and_prints_json_result(tmp_path: Path) -> None:
    target = tmp_path / "answer.png"
    response = ToolResponse({"rows": 1}, content=[image(b"\x89PNG")])
    result = run_command(response, "--output", str(target))
    assert result.stdout == '{\n  "rows": 1\n}\n'
    assert target.read_bytes() == b"\x89PNG"


def test_cli_output_option_refuses_existing_files_and_links(tmp_path: Path) -> None:
    existing = tmp_path / "existing"
    existing.write_text("mine")
    dangling_link = tmp_path / "link"
    dangling_link.symlink_to(tmp_path / "nowhere")
    for target, error in (
        (existing, f"{existing} already exists"),
        (dangling_link, f"{dangling_link} already exists"),
        (tmp_path, f"File '{tmp_path}' is a directory"),
    ):
        result = run_command(MIXED_RESPONSE, "--output", str(target))
        assert result.exit_code == 2
        assert error in result.stderr.replace("\n", " ")
        assert result.stdout == ""
    # The file was created after the option was checked.
    with pytest.raises(SystemExit):
        print_answer(MIXED_RESPONSE, str(existing))
    assert existing.read_text() == "mine"
    assert not (tmp_path / "nowhere").exists()


@pytest.mark.parametrize(
    ("response", "folder", "error"),
    [
        (ToolResponse("only text"), ".", "the result has no image, audio or file"),
        (MIXED_RESPONSE, "absent", "No such file or directory"),
        (ToolResponse(error="It broke."), ".", "It broke."),
    ],
)
def test_cli_output_option_exits_with_1_and_writes_no_file_if_there_is_no_binary_content(
    tmp_path: Path, response: ToolResponse, folder: str, error: str
) -> None:
    result = run_command(response, "--output", str(tmp_path / folder / "answer"))
    assert result.exit_code == 1
    assert error in result.stderr
    assert list(tmp_path.iterdir()) == []
