"""What our own templates were compiled to is kept where Python keeps that of our modules."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from jinja2 import Environment

from toolcast.rendering import renderer as tested
from toolcast.rendering.renderer import environment, render

TEMPLATE = "registry/package.py.jinja"


@pytest.fixture
def beside(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of compiled modules, in a run that may write there."""
    folder = tmp_path / "__pycache__"
    cached = str(folder / "environment.cpython-311.pyc")
    monkeypatch.setattr(tested.__spec__, "cached", cached)
    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    return folder


def anew() -> Environment:
    """The environment of another process."""
    environment.cache_clear()
    return environment()


@pytest.fixture(autouse=True)
def forgotten() -> object:
    environment.cache_clear()
    yield
    environment.cache_clear()


def test_a_second_run_compiles_no_template(
    beside: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    beside.mkdir()
    anew().get_template(TEMPLATE)
    assert len(list(beside.iterdir())) == 1

    def refuse(*_: object) -> None:
        raise AssertionError("it is compiled again")

    monkeypatch.setattr(Environment, "_compile", refuse)
    anew().get_template(TEMPLATE)


def test_an_installation_that_cannot_be_written_to_is_none_the_worse(
    beside: Path,
) -> None:
    assert anew().get_template(TEMPLATE)
    assert not beside.exists()


def test_who_wants_no_compiled_files_gets_none(
    beside: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    beside.mkdir()
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    anew().get_template(TEMPLATE)
    assert not list(beside.iterdir())


def test_of_other_peoples_templates_nothing_is_kept(
    beside: Path, tmp_path: Path
) -> None:
    beside.mkdir()
    own = tmp_path / "own"
    (own / "registry").mkdir(parents=True)
    (own / TEMPLATE).write_text("own\n", "utf-8")
    assert render(TEMPLATE, None, (str(own),)) == b"own\n"
    assert not list(beside.iterdir())
