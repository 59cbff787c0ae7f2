"""What each command does: takes its parsed arguments, gives the lines to print."""

import argparse
from pathlib import Path

from certs.authority import AUTHORITY_DAYS, Authority, Pair, Validity
from certs.errors import CertificateError
from certs.files import refuse_existing, write_private
from certs.pem import certificate_pem, load_certificate
from certs.service import Service, bundle_of, bundle_patch, secret_command


def init(arguments: argparse.Namespace) -> list[str]:
    """Make the authority, the serving pair and the patch; nothing when one of the files exists."""
    folder: Path = arguments.directory
    names = ("ca.crt", "ca.key", "tls.crt", "tls.key", "ca-bundle.yaml")
    paths = [folder / name for name in names]
    if not arguments.force:
        refuse_existing(paths)
    days = max(AUTHORITY_DAYS, arguments.days)
    authority = Authority.create(arguments.authority, validity=Validity.days(days))
    pair = _serving_pair(arguments, authority)
    authority.write(folder, "ca", force=True)
    certificate, key = pair.write(folder, "tls", force=True)
    patch = bundle_patch(authority.ca_bundle())
    write_private({folder / "ca-bundle.yaml": patch.encode("ascii")}, force=True)
    secret = secret_command(arguments.namespace, certificate, key)
    return [*map(str, paths), f"caBundle: {authority.ca_bundle()}", secret]


def ca(arguments: argparse.Namespace) -> list[str]:
    """Make an authority."""
    authority = Authority.create(arguments.authority, validity=Validity.days(arguments.days))
    return [*map(str, authority.write(arguments.directory, "ca", force=arguments.force))]


def serving(arguments: argparse.Namespace) -> list[str]:
    """Make a serving pair that the folder's authority signs."""
    pair = _serving_pair(arguments, _authority_for(arguments))
    certificate, key = pair.write(arguments.directory, "tls", force=arguments.force)
    secret = secret_command(arguments.namespace, certificate, key)
    return [str(certificate), str(key), secret]


def client(arguments: argparse.Namespace) -> list[str]:
    """Make a client pair that the folder's authority signs."""
    authority = _authority_for(arguments)
    validity = Validity.days(arguments.days)
    pair = authority.issue_client(arguments.user, arguments.group, validity=validity)
    return [*map(str, pair.write(arguments.directory, arguments.name, force=arguments.force))]


def bundle(arguments: argparse.Namespace) -> list[str]:
    """Give the caBundle of the folder's authority and of the others named, or its patch."""
    paths: list[Path] = [arguments.directory / "ca.crt", *arguments.others]
    text = bundle_of([certificate_pem(load_certificate(path)) for path in paths])
    return [bundle_patch(text).rstrip("\n") if arguments.patch else text]


def _authority_for(arguments: argparse.Namespace) -> Authority:
    folder: Path = arguments.directory
    authority = Authority.load(folder / "ca.crt", folder / "ca.key")
    end = authority.certificate.not_valid_after_utc
    if end < Validity.days(arguments.days).not_after:
        raise CertificateError(
            f"{folder / 'ca.crt'} ends on {end:%Y-%m-%d}, before the pair would: "
            "give fewer --days or make a new authority"
        )
    return authority


def _serving_pair(arguments: argparse.Namespace, authority: Authority) -> Pair:
    service = Service(name=arguments.service, namespace=arguments.namespace)
    validity = Validity.days(arguments.days)
    return service.serving_pair(authority, arguments.dns, arguments.ip, validity=validity)
