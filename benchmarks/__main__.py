"""``python -m benchmarks [--quick] [--only first-text,throughput,burst,start]``: measures and prints, loopback only."""

import sys

if __name__ == "__main__":
    # Every child process imports this module again and must not pay for what only its parent needs.
    from benchmarks.command import main

    try:
        status = main(sys.argv[1:])
    except KeyboardInterrupt:
        status = 130
    sys.exit(status)
