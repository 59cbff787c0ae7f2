"""`python -m adapter` is `gpu-metrics-adapter`."""

import os
import signal
import sys
from types import FrameType


def main() -> int:
    """Run the command and give its exit code; a signal that comes before it serves ends it with 0.

    The imports take a second, and the first process of a container passes over a signal that it
    does not handle: without this a pod that is deleted while it starts would wait for its end.
    """
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, _leave)
    from adapter.cli import main as command  # noqa: PLC0415  (after the signals, see above)

    return command()


def _leave(number: int, frame: FrameType | None) -> None:
    os._exit(0)


if __name__ == "__main__":
    sys.exit(main())
