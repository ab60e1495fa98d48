"""Coverage-guided fuzzer (atheris) for the YAML reader and the generator.

Not part of the suite: `make fuzz` installs atheris and runs it for a limited time. Arguments
are those of libFuzzer, such as `-max_total_time=300`, followed by corpus folders.
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


def check_input(data: bytes) -> None:
    """Assert that bytes as a spec yield output or findings, without an internal error."""
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
    atheris.Setup(sys.argv, check_input)
    atheris.Fuzz()


if __name__ == "__main__":
    main()
