"""`python -m adapter` is `gpu-metrics-adapter`."""

import sys

from adapter.cli import main

if __name__ == "__main__":
    sys.exit(main())
