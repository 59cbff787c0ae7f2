"""Files that hold keys: mode 0600 from their first byte, whole or absent, never overwritten unasked."""

import contextlib
import os
from collections.abc import Iterable, Mapping
from pathlib import Path

from certs.errors import CertificateError


def refuse_existing(paths: Iterable[Path]) -> None:
    """Raise CertificateError, naming the files, when one of the paths is taken (a broken link too)."""
    taken = [str(path) for path in paths if os.path.lexists(path)]
    if taken:
        verb = "exists" if len(taken) == 1 else "exist"
        raise CertificateError(f"{', '.join(taken)} already {verb}: give --force to overwrite")


def write_private(contents: Mapping[Path, bytes], *, force: bool = False) -> None:
    """Write the files, readable by their owner only; a missing folder is made with mode 0700.

    A reader finds the old content or the new one, never a part. Without force nothing at all is
    written when one of the files is there. Raises CertificateError, with path and cause.
    """
    if not force:
        refuse_existing(contents)
    for path, content in contents.items():
        try:
            _replace(path, content)
        except OSError as exc:
            raise CertificateError(f"{path}: cannot be written: {exc.strerror}") from exc


def _replace(path: Path, content: bytes) -> None:
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    draft = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        _create(draft, content)
        draft.replace(path)
    except OSError:
        with contextlib.suppress(OSError):
            draft.unlink()
        raise


def _create(path: Path, content: bytes) -> None:
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
