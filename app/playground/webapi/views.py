"""views.*: modals and the Home tab."""

from app.playground import modals
from app.playground.limits import check_view, refusal_of
from app.playground.model import Json, View
from app.playground.objects import view_json
from app.playground.refusal import SlackRefusal
from app.playground.webapi.call import Call, Method


def _payload(call: Call, kind: str) -> Json:
    """Refuses ``invalid_arguments`` with the problems, ``view_too_large``."""
    view = call.args.json_object("view", "invalid_arguments")
    if view is None:
        raise refusal_of("invalid_arguments", ["[ERROR] missing required field: view"])
    check_view(view, kind)
    return view


def _shown(call: Call, view: View) -> Json:
    return {"view": view_json(call.workspace, view)}


def _redeem(call: Call) -> str:
    """The person behind the trigger (``interactivity_pointer`` is its other name)."""
    name = "trigger_id" if "trigger_id" in call.args else "interactivity_pointer"
    return call.workspace.triggers.redeem(call.args.required(name))


def open_view(call: Call) -> Json:
    payload = _payload(call, "modal")
    return _shown(call, modals.open_modal(call.workspace, _redeem(call), call.app.id, payload))


def push_view(call: Call) -> Json:
    payload = _payload(call, "modal")
    return _shown(call, modals.push_modal(call.workspace, _redeem(call), call.app.id, payload))


def update_view(call: Call) -> Json:
    """By ``view_id`` or ``external_id``; ``hash`` guards against a race."""
    payload = call.args.json_object("view", "invalid_arguments") or {}
    view = modals.find_view(
        call.workspace, view_id=call.args.text("view_id"), external_id=call.args.text("external_id")
    )
    if view is None or view.app_id != call.app.id:
        raise SlackRefusal("not_found")
    check_view(payload, view.payload["type"])
    return _shown(call, modals.update_modal(call.workspace, view, payload, call.args.text("hash") or None))


def publish(call: Call) -> Json:
    user = call.args.required("user_id")
    payload = _payload(call, "home")
    if user not in call.workspace.members:
        raise refusal_of("invalid_arguments", ["[ERROR] invalid `user_id`"])
    expected = call.args.text("hash") or None
    return _shown(call, modals.publish_home(call.workspace, user, call.app.id, payload, expected))


METHODS = (
    Method("views.open", open_view),
    Method("views.push", push_view),
    Method("views.update", update_view),
    Method("views.publish", publish),
)
