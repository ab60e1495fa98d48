"""What a command prints and writes of an answer with more than text."""

from __future__ import annotations

from pathlib import Path

import click
import pytest
from click.testing import CliRunner, Result

from toolcast_runtime import ToolResponse, audio, file, image, link, text
from toolcast_runtime.cli.terminal import OUTPUT, output_option, print_answer

EVERYTHING = ToolResponse(
    content=[
        text("Sales grew."),
        image(b"\x89PNG"),
        audio(b"RIFF."),
        file("sales.csv", "month,sales\n1,30"),
        file("new logo.bin", b"\x00\xff"),
        link("policy", "shop://policies/returns", title="Policy"),
    ]
)


def answered(response: ToolResponse, *words: str) -> Result:
    def run() -> None:
        print_answer(response, click.get_current_context().meta[OUTPUT])

    command = click.Command("tool", callback=run, params=[output_option()])
    return CliRunner().invoke(command, words)


def test_texts_and_links_are_printed_and_others_named() -> None:
    done = answered(EVERYTHING)
    assert done.exit_code == 0
    assert done.stdout.splitlines() == [
        "Sales grew.",
        "[image/png, 4 bytes]",
        "[audio/wav, 5 bytes]",
        "month,sales",
        "1,30",
        "[new logo.bin, application/octet-stream, 2 bytes]",
        "Policy: shop://policies/returns",
    ]
    assert (
        done.stderr == "help: `--output FILE` before the command writes this content\n"
    )


@pytest.mark.parametrize(
    ("block", "data"),
    [
        (image(b"\x89PNG"), b"\x89PNG"),
        (audio(b"RIFF."), b"RIFF."),
        (file("a.bin", b"\x00\xff"), b"\x00\xff"),
        (file("a.txt", "é"), "é".encode()),
    ],
)
def test_output_writes_the_first_file_of_an_answer(
    tmp_path: Path, block: dict[str, object], data: bytes
) -> None:
    target = tmp_path / "answer"
    response = ToolResponse(content=[text("Here."), block, image(b"second")])
    done = answered(response, "--output", str(target))
    assert done.exit_code == 0, done.output
    assert target.read_bytes() == data


def test_a_result_is_printed_and_its_image_written(tmp_path: Path) -> None:
    target = tmp_path / "answer.png"
    response = ToolResponse({"rows": 1}, content=[image(b"\x89PNG")])
    done = answered(response, "--output", str(target))
    assert done.stdout == '{\n  "rows": 1\n}\n'
    assert target.read_bytes() == b"\x89PNG"


def test_nothing_that_is_there_is_written_over(tmp_path: Path) -> None:
    there = tmp_path / "there"
    there.write_text("mine")
    link_ = tmp_path / "link"
    link_.symlink_to(tmp_path / "nowhere")
    for target in (there, link_):
        done = answered(EVERYTHING, "--output", str(target))
        assert done.exit_code == 2
        assert f"{target} already exists" in done.stderr.replace("\n", " ")
        assert done.stdout == ""
    assert there.read_text() == "mine"
    assert not (tmp_path / "nowhere").exists()


@pytest.mark.parametrize(
    ("response", "folder", "why"),
    [
        (ToolResponse("only text"), ".", "the result has no image, audio or file"),
        (EVERYTHING, "absent", "No such file or directory"),
        (ToolResponse(error="It broke."), ".", "It broke."),
    ],
)
def test_what_cannot_be_written_is_told(
    tmp_path: Path, response: ToolResponse, folder: str, why: str
) -> None:
    done = answered(response, "--output", str(tmp_path / folder / "answer"))
    assert done.exit_code == 1
    assert why in done.stderr
    assert list(tmp_path.iterdir()) == []
