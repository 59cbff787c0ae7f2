"""Kinds of ClusterDown that only these modules tell apart."""

from adapter.errors import ClusterDown


class ConnectionLost(ClusterDown):
    """The connection broke, or could not be made; asking again may help at once."""


class ClusterRefused(ClusterDown):
    """kube-apiserver answered, with a status that is no success.

    `retry_after` is what the server
    asked to wait, in seconds, None when it did not.
    """

    def __init__(self, text: str, *, status: int, retry_after: float | None = None) -> None:
        """Keep the HTTP status, or the code of a Status sent as an event."""
        super().__init__(text)
        self.status = status
        self.retry_after = retry_after
