"""One message, top to bottom."""
