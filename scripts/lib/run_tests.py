# SPDX-License-Identifier: Apache-2.0
"""The entry of scripts/test, which has installed all packages: runs testing/main.py."""
import sys

from testing.main import main

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
