"""The one HTTP surface."""
