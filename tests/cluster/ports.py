"""Free TCP ports on 127.0.0.1 for servers that can't be handed a socket."""

import itertools
import random
import socket

from tests.cluster.errors import HarnessError

# Below the range from which the kernel takes the ports of outgoing connections: such a port stays
# free while a server that was stopped waits to be started again on it.
LOWEST, HIGHEST = 20_000, 32_000
TRIES = 200


def free_ports(count: int) -> list[int]:
    """So many different ports on which nothing listens now."""
    candidates = random.sample(range(LOWEST, HIGHEST), TRIES)
    ports = list(itertools.islice(filter(_is_free, candidates), count))
    if len(ports) < count:
        raise HarnessError(f"no {count} free ports on 127.0.0.1 between {LOWEST} and {HIGHEST}")
    return ports


def free_port() -> int:
    """A port on which nothing listens now."""
    return free_ports(1)[0]


def _is_free(port: int) -> bool:
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except OSError:
            return False
    return True
