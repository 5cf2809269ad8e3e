"""A Slack workspace on this machine: Slack's Web API, Socket Mode, and a page to talk in."""
