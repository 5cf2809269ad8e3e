"""Settings of access: how people are named in the file and in variables, and what is refused."""

from collections.abc import Mapping
from pathlib import Path

import pytest

from config.faults import SettingsError
from config.loading import load
from config.settings import AccessSettings

PREFIX = "SWITCHBOARD_ACCESS__"


def access(folder: Path, yaml: str = "", environ: Mapping[str, str] | None = None) -> AccessSettings:
    (folder / "switchboard.yaml").write_text(yaml, encoding="utf-8")
    return load(environ=environ or {}, directory=folder, playground=True).access


def fault(folder: Path, yaml: str, environ: Mapping[str, str] | None = None) -> str:
    with pytest.raises(SettingsError) as caught:
        access(folder, yaml, environ)
    (line,) = caught.value.faults
    return line


@pytest.mark.parametrize(
    "yaml",
    [
        "access: {admins: [U0ADA00001, W0GRID]}",
        "access: {admins: 'U0ADA00001, W0GRID'}",
        "access: {admins: ['slack:U0ADA00001', W0GRID, U0ADA00001]}",
    ],
)
def test_admins_are_a_list_of_slack_ids_each_once(tmp_path: Path, yaml: str) -> None:
    assert access(tmp_path, yaml).admins == ("U0ADA00001", "W0GRID")


def test_lists_stand_in_variables_with_commas(tmp_path: Path) -> None:
    environ = {
        f"{PREFIX}ADMINS": "U0ADA00001,,W0GRID ,",
        f"{PREFIX}WORKSPACE_ADMINS": "true",
        f"{PREFIX}RESTRICT__AGENTS__GENERAL": "U0BOB, http:ci",
        f"{PREFIX}RESTRICT__COMMANDS__MEMORY_FORGET": "mcp:desk",
        f"{PREFIX}GUESTS": "none",
    }
    found = access(tmp_path, "", environ)
    assert found.admins == ("U0ADA00001", "W0GRID")
    assert found.workspace_admins is True
    assert found.restrict.agents == {"general": ("slack:U0BOB", "http:ci")}
    assert found.restrict.commands == {"memory.forget": ("mcp:desk",)}
    assert (found.guests, found.external) == ("none", "talk")


def test_a_list_without_entries_keeps_an_agent_for_admins(tmp_path: Path) -> None:
    assert access(tmp_path, "access: {restrict: {agents: {general: []}}}").restrict.agents == {"general": ()}


@pytest.mark.parametrize(
    ("yaml", "line"),
    [
        ("access: {admins: [ada]}", "access.admins (switchboard.yaml line 1): must be a list of Slack member ids"),
        ("access: {admins: [12]}", "access.admins (switchboard.yaml line 1): must be a list of Slack member ids"),
        ("access: {admins: 12}", "access.admins (switchboard.yaml line 1): must be a list of Slack member ids"),
        ("access: {admins: ['http:ci']}", "access.admins (switchboard.yaml line 1): must be a list of Slack member"),
        ("access: {admins: {U0ADA: yes}}", "access.admins (switchboard.yaml line 1): must be a list of Slack member"),
        (
            "access: {restrict: {agents: {general: ['cli:local']}}}",
            "access.restrict.agents.general (switchboard.yaml line 1): must be a list of Slack member ids (",
        ),
        (
            "agents: {reviewer: {prompt: x}}\naccess: {restrict: {agents: {reviewr: [U0BOB]}}}",
            "access.restrict.agents.reviewr (switchboard.yaml line 2): names an unknown agent; known are general, ",
        ),
        (
            "access: {restrict: {commands: {memory: [U0BOB]}}}",
            "access.restrict.commands.memory (switchboard.yaml line 1): the name must be a command's",
        ),
        ("access: {guests: maybe}", "access.guests (switchboard.yaml line 1): must be 'talk' or 'none'"),
        ("access: {admin: [U0ADA]}", "access.admin (switchboard.yaml line 1): there is no such setting; did you mean"),
    ],
)
def test_what_grants_nobody_is_refused_with_its_place(tmp_path: Path, yaml: str, line: str) -> None:
    assert fault(tmp_path, yaml)[: len(line)] == line


def test_a_guess_of_the_agent_is_made(tmp_path: Path) -> None:
    assert fault(tmp_path, "access: {restrict: {agents: {generl: []}}}").endswith("did you mean general?")
