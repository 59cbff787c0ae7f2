"""The command: what it writes, what it prints, how it fails."""

import base64
from pathlib import Path

import pytest
import yaml
from cryptography import x509

from certs.authority import Authority
from certs.cli import main
from tests.certs.loopback import handshake, serving_context, trusting

FILES = ["ca-bundle.yaml", "ca.crt", "ca.key", "tls.crt", "tls.key"]


def names_of(path: Path) -> list[str]:
    certificate = x509.load_pem_x509_certificate(path.read_bytes())
    extension = certificate.extensions.get_extension_for_class(x509.SubjectAlternativeName)
    names = extension.value.get_values_for_type(x509.DNSName)
    return [*names, *map(str, extension.value.get_values_for_type(x509.IPAddress))]


def test_init_makes_everything_an_install_needs(tmp_path: Path) -> None:
    assert main(["init", "--directory", str(tmp_path / "c")]) == 0
    assert sorted(path.name for path in (tmp_path / "c").iterdir()) == FILES
    assert {path.stat().st_mode & 0o777 for path in (tmp_path / "c").iterdir()} == {0o600}
    patch = yaml.safe_load((tmp_path / "c" / "ca-bundle.yaml").read_text())
    bundle = base64.b64encode((tmp_path / "c" / "ca.crt").read_bytes()).decode()
    assert patch == [{"op": "replace", "path": "/spec/caBundle", "value": bundle}]


def test_init_prints_the_ca_bundle_and_the_line_that_makes_the_secret(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    main(["init", "--directory", str(tmp_path), "--namespace", "gpu"])
    lines = capsys.readouterr().out.splitlines()
    bundle = base64.b64encode((tmp_path / "ca.crt").read_bytes()).decode()
    assert f"caBundle: {bundle}" in lines
    assert lines[-1] == (
        "kubectl create secret tls gpu-metrics-adapter-serving --namespace=gpu "
        f"--cert={tmp_path}/tls.crt --key={tmp_path}/tls.key"
    )


def test_the_serving_pair_has_the_names_of_the_service(tmp_path: Path) -> None:
    service = ["--service", "adapter", "--namespace", "gpu", "--dns", "a.example", "--ip", "::1"]
    main(["init", "--directory", str(tmp_path), *service])
    assert names_of(tmp_path / "tls.crt") == [
        "adapter.gpu.svc",
        "adapter.gpu",
        "adapter.gpu.svc.cluster.local",
        "adapter",
        "localhost",
        "a.example",
        "127.0.0.1",
        "::1",
    ]


def test_the_authority_and_the_pair_may_be_made_apart(tmp_path: Path) -> None:
    assert main(["ca", "--directory", str(tmp_path)]) == 0
    assert main(["serving", "--directory", str(tmp_path)]) == 0
    authority = Authority.load(tmp_path / "ca.crt", tmp_path / "ca.key")
    pair = authority.issue_server("x", ["x"])
    assert names_of(tmp_path / "tls.crt")[0] == "gpu-metrics-adapter.gpu-metrics-adapter.svc"
    handshake(serving_context(tmp_path, pair), trusting((tmp_path / "ca.crt").read_bytes()), "x")


def test_a_client_pair_has_its_user_and_its_groups(tmp_path: Path) -> None:
    main(["ca", "--directory", str(tmp_path)])
    user = ["--user", "jane", "--group", "dev", "--group", "gpu", "--name", "jane"]
    assert main(["client", "--directory", str(tmp_path), *user]) == 0
    certificate = x509.load_pem_x509_certificate((tmp_path / "jane.crt").read_bytes())
    assert certificate.subject.rfc4514_string() == "CN=jane,O=gpu,O=dev"


def test_init_touches_nothing_where_one_of_its_files_is(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "ca-bundle.yaml").write_text("mine")
    assert main(["init", "--directory", str(tmp_path)]) == 2
    assert [path.name for path in tmp_path.iterdir()] == ["ca-bundle.yaml"]
    assert capsys.readouterr().err == (
        f"gpu-metrics-adapter-certs: {tmp_path}/ca-bundle.yaml already exists: "
        "give --force to overwrite\n"
    )


def test_force_makes_new_ones(tmp_path: Path) -> None:
    main(["init", "--directory", str(tmp_path)])
    first = (tmp_path / "ca.crt").read_bytes()
    assert main(["init", "--directory", str(tmp_path), "--force"]) == 0
    assert (tmp_path / "ca.crt").read_bytes() != first


def test_a_pair_never_outlives_its_authority(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    main(["ca", "--directory", str(tmp_path), "--days", "10"])
    assert main(["serving", "--directory", str(tmp_path), "--days", "11"]) == 2
    assert "ends on" in capsys.readouterr().err
    assert main(["serving", "--directory", str(tmp_path), "--days", "9"]) == 0


def test_a_bundle_can_hold_two_authorities_while_one_takes_over(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in ("new", "old"):
        main(["ca", "--directory", str(tmp_path / name)])
    capsys.readouterr()
    old = str(tmp_path / "old" / "ca.crt")
    assert main(["bundle", "--directory", str(tmp_path / "new"), "--with", old]) == 0
    both = base64.b64decode(capsys.readouterr().out)
    assert both == b"".join((tmp_path / name / "ca.crt").read_bytes() for name in ("new", "old"))


def test_a_bundle_can_be_printed_as_the_patch_that_init_writes(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    main(["init", "--directory", str(tmp_path)])
    capsys.readouterr()
    main(["bundle", "--directory", str(tmp_path), "--patch"])
    assert capsys.readouterr().out == (tmp_path / "ca-bundle.yaml").read_text()


def test_a_missing_authority_is_one_line_and_code_2(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["serving", "--directory", str(tmp_path)]) == 2
    assert capsys.readouterr().err == (
        f"gpu-metrics-adapter-certs: {tmp_path}/ca.crt: cannot be read: No such file or directory\n"
    )


@pytest.mark.parametrize("days", ["0", "-1", "x", "36501", "1.5"])
def test_days_are_a_number_from_1_to_36500(
    tmp_path: Path, days: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as leaving:
        main(["ca", "--directory", str(tmp_path), f"--days={days}"])
    assert leaving.value.code == 2
    assert f"'{days}' is not a number of days" in capsys.readouterr().err
