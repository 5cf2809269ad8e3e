"""Views: opening, stacking, updating and closing modals, and publishing a Home."""

from app.playground.happenings import HomePublished, ModalClosed, ModalShown
from app.playground.model import Json, View
from app.playground.refusal import SlackRefusal
from app.playground.workspace import Workspace

_STACK_MAX = 3


def _new_view(workspace: Workspace, user: str, app_id: str, payload: Json) -> View:
    view_id = workspace.ids.mint("V")
    external_id = str(payload.get("external_id") or "")
    if external_id and find_view(workspace, external_id=external_id):
        raise SlackRefusal("duplicate_external_id")
    return View(view_id, view_id, user, payload, _fresh_hash(workspace), external_id=external_id, app_id=app_id)


def _fresh_hash(workspace: Workspace) -> str:
    return f"{workspace.epoch_s()}.{workspace.ids.mint('H').lower()}"


def open_modal(workspace: Workspace, user: str, app_id: str, payload: Json) -> View:
    view = _new_view(workspace, user, app_id, payload)
    workspace.views[view.id] = view
    workspace.emit(ModalShown(view))
    return view


def push_modal(workspace: Workspace, user: str, app_id: str, payload: Json) -> View:
    """On top of the person's topmost modal of this app; refuses ``not_found`` and ``push_limit_reached``."""
    stack = [view for view in workspace.views.values() if view.user == user and view.app_id == app_id]
    if not stack:
        raise SlackRefusal("not_found")
    if len(stack) >= _STACK_MAX:
        raise SlackRefusal("push_limit_reached")
    view = _new_view(workspace, user, app_id, payload)
    view.root_id, view.previous_id = stack[-1].root_id, stack[-1].id
    workspace.views[view.id] = view
    workspace.emit(ModalShown(view))
    return view


def update_modal(workspace: Workspace, view: View, payload: Json, expected_hash: str | None = None) -> View:
    """Refuses ``hash_conflict`` when someone else was faster. Input the new blocks still hold is kept."""
    if expected_hash and expected_hash != view.hash:
        raise SlackRefusal("hash_conflict")
    view.payload = payload
    view.hash = _fresh_hash(workspace)
    view.external_id = str(payload.get("external_id") or view.external_id)
    kept = {block.get("block_id") for block in payload.get("blocks", [])}
    view.state = {block_id: values for block_id, values in view.state.items() if block_id in kept}
    workspace.emit(HomePublished(view) if payload.get("type") == "home" else ModalShown(view))
    return view


def close_modal(workspace: Workspace, view_id: str, *, whole_stack: bool = False) -> list[View]:
    """Closes one modal, or all of its stack; returns what was closed, topmost first."""
    if view_id not in workspace.views:
        raise SlackRefusal("not_found")
    root_id = workspace.views[view_id].root_id
    closing = [
        view
        for view in reversed(workspace.views.values())
        if view.id == view_id or (whole_stack and view.root_id == root_id)
    ]
    for view in closing:
        del workspace.views[view.id]
        workspace.emit(ModalClosed(view))
    return closing


def publish_home(workspace: Workspace, user: str, app_id: str, payload: Json, expected_hash: str | None = None) -> View:
    """One Home for each person; publishing again replaces it under the same id."""
    existing = workspace.home_views.get(user)
    if existing is not None:
        return update_modal(workspace, existing, payload, expected_hash)
    view = _new_view(workspace, user, app_id, payload)
    workspace.home_views[user] = view
    workspace.emit(HomePublished(view))
    return view


def find_view(workspace: Workspace, *, view_id: str = "", external_id: str = "") -> View | None:
    """A modal by id or external id, or a Home by id."""
    if view_id in workspace.views:
        return workspace.views[view_id]
    everything = (*workspace.views.values(), *workspace.home_views.values())
    return next(
        (view for view in everything if view.id == view_id or (external_id and view.external_id == external_id)),
        None,
    )
