"""Conversations that go on: lanes, sessions, what happens between turns."""
