"""What an operator sets."""
