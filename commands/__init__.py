"""What people can ask for by name, on every surface."""
