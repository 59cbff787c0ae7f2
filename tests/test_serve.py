"""Where the server listens."""

import socket

import pytest

from adapter.api.server import listening
from adapter.errors import InputError
from adapter.settings import ServingSettings


@pytest.mark.parametrize("address", ["0.0.0.0", "::"])  # noqa: S104  (what is tried)
@pytest.mark.parametrize("client", ["127.0.0.1", "::1"])
def test_all_addresses_are_those_of_both_families(address: str, client: str) -> None:
    with listening(ServingSettings(bind_address=address, port=0)) as listener:
        port = listener.getsockname()[1]
        with socket.create_connection((client, port)) as connection:
            assert connection.getpeername()[1] == port


def test_one_address_is_that_one_alone() -> None:
    with listening(ServingSettings(bind_address="127.0.0.1", port=0)) as listener:
        port = listener.getsockname()[1]
        with pytest.raises(ConnectionRefusedError):
            socket.create_connection(("::1", port))


def test_a_port_in_use_is_told_with_its_cure() -> None:
    settings = ServingSettings(bind_address="127.0.0.1", port=0)
    with listening(settings) as listener:
        taken = ServingSettings(bind_address="127.0.0.1", port=listener.getsockname()[1])
        with pytest.raises(InputError, match=r"cannot listen on .*; give a free port"):
            listening(taken)
