"""The bot's own database: what has to survive the process, in one schema over SQLite and PostgreSQL."""
