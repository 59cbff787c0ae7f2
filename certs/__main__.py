"""`python -m certs`: the same as the command gpu-metrics-adapter-certs."""

import sys

from certs.cli import main

if __name__ == "__main__":
    sys.exit(main())
