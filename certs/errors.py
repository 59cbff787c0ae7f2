"""What can go wrong with certificates, in one line that says the cure."""


class CertificateError(Exception):
    """A name that no certificate can carry, or a file that can't be read, used or written."""
