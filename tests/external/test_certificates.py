"""External HTTPS servers whose certificate a private certificate authority has signed."""

from __future__ import annotations

import ipaddress
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from tests.external.test_recovery import (
    Make,
    Start,
    fetch,
    proxy,
    settings,
    start_upstream,
)

__all__ = ["proxy", "start_upstream"]


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Write a PEM file with a self-signed certificate of 127.0.0.1 and its key."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "localhost")])
    address = x509.IPAddress(ipaddress.ip_address("127.0.0.1"))
    now = datetime.now(UTC)
    signed = (
        x509.CertificateBuilder(name, name, key.public_key(), 1)
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([address]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    pem = serialization.Encoding.PEM
    file = tmp_path_factory.mktemp("tls") / "certificate.pem"
    file.write_bytes(
        signed.public_bytes(pem)
        + key.private_bytes(
            pem, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
        )
    )
    return file


@pytest.mark.parametrize("is_trusted", [True, False])
async def test_ssl_cert_file_makes_a_private_certificate_authority_trusted(
    start_upstream: Start,
    proxy: Make,
    certificate: Path,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
    is_trusted: bool,
) -> None:
    server = start_upstream()
    server.use_tls(certificate)
    if is_trusted:
        monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
    answer = await fetch(proxy(settings(server), "fetch"))
    assert (answer.result == "hello") is is_trusted
    assert ("CERTIFICATE_VERIFY_FAILED" in caplog.text) is not is_trusted
