"""Modals and Homes as the workspace keeps them."""

import pytest

from app.playground.happenings import Happening, ModalClosed
from app.playground.modals import close_modal, find_view, open_modal, publish_home, push_modal, update_modal
from app.playground.model import Json
from app.playground.refusal import SlackRefusal
from app.playground.seed import ALICE, APP_ID, BOB, default_workspace
from app.playground.workspace import Workspace

MODAL: Json = {"type": "modal", "title": {"type": "plain_text", "text": "Hi"}, "blocks": []}


@pytest.fixture
def workspace() -> Workspace:
    return default_workspace()


def test_closing_takes_one_view_or_its_whole_stack_topmost_first(workspace: Workspace) -> None:
    stack = [open_modal(workspace, ALICE, APP_ID, MODAL)]
    stack += [push_modal(workspace, ALICE, APP_ID, MODAL) for _ in range(2)]
    other = open_modal(workspace, BOB, APP_ID, MODAL)
    seen: list[Happening] = []
    workspace.subscribe(seen.append)
    assert close_modal(workspace, stack[2].id) == [stack[2]]
    assert close_modal(workspace, stack[1].id, whole_stack=True) == [stack[1], stack[0]]
    assert list(workspace.views.values()) == [other]
    assert [each.view for each in seen if isinstance(each, ModalClosed)] == [stack[2], stack[1], stack[0]]
    with pytest.raises(SlackRefusal, match="not_found"):
        close_modal(workspace, stack[0].id)


def test_nothing_can_be_pushed_onto_nothing(workspace: Workspace) -> None:
    with pytest.raises(SlackRefusal, match="not_found"):
        push_modal(workspace, ALICE, APP_ID, MODAL)


def test_an_update_keeps_what_was_typed_into_blocks_that_stay(workspace: Workspace) -> None:
    view = open_modal(workspace, ALICE, APP_ID, MODAL)
    view.state = {"kept": {"a": {"value": "1"}}, "gone": {"a": {"value": "2"}}}
    update_modal(workspace, view, MODAL | {"blocks": [{"type": "divider", "block_id": "kept"}]})
    assert view.state == {"kept": {"a": {"value": "1"}}}


def test_a_view_is_found_by_either_id(workspace: Workspace) -> None:
    named = open_modal(workspace, ALICE, APP_ID, MODAL | {"external_id": "mine"})
    home = publish_home(workspace, ALICE, APP_ID, {"type": "home", "blocks": []})
    assert find_view(workspace, external_id="mine") is named
    assert find_view(workspace, view_id=home.id) is home
    assert find_view(workspace, view_id="V0", external_id="") is None
