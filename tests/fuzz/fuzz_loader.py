"""An atheris target: any bytes as a spec through reader and pipeline, led by coverage.

Not part of the suite: `make fuzz` installs atheris and runs it for a bounded time. Arguments
are libFuzzer's, for instance `-max_total_time=300`, then folders of a corpus.
"""

import os
import sys
import tempfile
from pathlib import Path

import atheris

with atheris.instrument_imports(include=["toolcast"]):
    from toolcast.findings import has_errors
    from toolcast.parsing.yaml_reader import read_yaml
    from toolcast.pipeline import generate

ROOT = Path(tempfile.mkdtemp(prefix="toolcast-fuzz-"))
SPEC = ROOT / "specs" / "x" / "a.yaml"


def one_input(data: bytes) -> None:
    """An exception that escapes, or silence, is what the fuzzer looks for."""
    document, findings = read_yaml("a.yaml", data)
    assert document is not None or findings
    if document is None:
        return
    SPEC.write_bytes(data)
    generated = generate(str(ROOT))
    assert generated.files or has_errors(generated.findings)
    rules = {finding.rule for finding in generated.findings}
    assert not rules & {"target/unexpected-output", "target/template-error"}


def main() -> None:
    SPEC.parent.mkdir(parents=True)
    (ROOT / "toolcast.yaml").write_text("version: 1\ntoolsets: [specs/x]\n")
    (SPEC.parent / "toolset.yaml").write_text("name: x\ntitle: X\n")
    os.chdir(ROOT)
    atheris.Setup(sys.argv, one_input)
    atheris.Fuzz()


if __name__ == "__main__":
    main()
