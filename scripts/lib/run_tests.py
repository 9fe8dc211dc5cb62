# SPDX-License-Identifier: Apache-2.0
"""What scripts/test runs when all packages are there: testing/main.py."""
import sys

from testing.main import main

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
