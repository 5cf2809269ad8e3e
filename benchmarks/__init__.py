"""What the README claims about speed and size, measured on this machine: ``python -m benchmarks``."""
