"""Slack's side of the bot; the only importer of slack_bolt and slack_sdk."""
