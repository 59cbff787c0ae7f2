"""`python -m demo`."""

import sys

try:
    from demo.cli import main

    code = main()
except KeyboardInterrupt:  # before there was anything to clean up
    code = 130
sys.exit(code)
