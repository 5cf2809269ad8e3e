"""assistant.threads.* and agents.sessions.*: status lines, titles, suggested prompts, sessions."""

from app.playground.happenings import SuggestedPrompts, ThreadStatus
from app.playground.limits import refusal_of
from app.playground.model import Json
from app.playground.refusal import SlackRefusal
from app.playground.schema import items, shape, string
from app.playground.webapi.call import Call, Method

SESSION_STATUSES = ("active", "processing", "suspended", "closed")
_TITLE_MAX = 200
_LOADING = items(string(), 10, 0)
_PROMPTS = items(shape({"title": string(), "message": string()}), 4)
_RESERVED_NAMES = frozenset({"slackbot", "slack"})


def _thread(call: Call) -> tuple[str, str]:
    """Channel and root ts; refuses ``invalid_thread_ts`` when there is no such message."""
    channel = call.joined_channel("channel_id")
    thread_ts = call.args.required("thread_ts")
    if thread_ts not in call.workspace.messages.get(channel.id, {}):
        raise SlackRefusal("invalid_thread_ts")
    return channel.id, thread_ts


def set_status(call: Call) -> Json:
    loading = _loading_messages(call)
    if call.args.text("username").lower() in _RESERVED_NAMES:
        raise SlackRefusal("reserved_username")
    channel, thread_ts = _thread(call)
    call.workspace.set_thread_status(ThreadStatus(channel, thread_ts, call.args.text("status"), loading))
    return {}


def _loading_messages(call: Call) -> tuple[str, ...]:
    value = call.args.parsed("loading_messages", "invalid_arguments")
    if problems := list(_LOADING(value or [], "/loading_messages")):
        raise refusal_of("invalid_arguments", problems)
    return tuple(value or ())


def set_title(call: Call) -> Json:
    title = call.args.required("title")
    call.workspace.set_title(*_thread(call), title)
    return {}


def set_suggested_prompts(call: Call) -> Json:
    """Without ``thread_ts`` for the whole DM."""
    prompts = call.args.objects("prompts", "invalid_arguments") or []
    if problems := list(_PROMPTS(prompts, "/prompts")):
        raise refusal_of("invalid_arguments", problems)
    channel, thread_ts = call.joined_channel("channel_id").id, None
    if call.args.text("thread_ts"):
        channel, thread_ts = _thread(call)
    call.workspace.set_prompts(SuggestedPrompts(channel, thread_ts, call.args.text("title"), tuple(prompts)))
    return {}


def _session(call: Call) -> tuple[str, str]:
    """Refuses ``not_authorized`` for an app that is no agent: one without ``assistant:write``."""
    if "assistant:write" not in call.app.scopes:
        raise SlackRefusal("not_authorized")
    return _thread(call)


def session_set_status(call: Call) -> Json:
    status = call.args.required("status")
    title = call.args.text("title")
    if status not in SESSION_STATUSES:
        raise refusal_of("invalid_arguments", ["[ERROR] must be a valid enum value: status"])
    _check_title(title)
    channel, thread_ts = _session(call)
    is_new = (channel, thread_ts) not in call.workspace.session_status
    call.workspace.set_session_status(channel, thread_ts, status)
    if title and is_new:
        call.workspace.set_title(channel, thread_ts, title)
    if status == "processing" and "agent_session_stopped" not in call.app.events:
        call.warn("missing_agent_session_stopped_event_subscription")
    return {}


def session_rename(call: Call) -> Json:
    title = call.args.required("title")
    _check_title(title)
    call.workspace.set_title(*_session(call), title)
    return {}


def _check_title(title: str) -> None:
    if len(title) > _TITLE_MAX:
        raise refusal_of("invalid_arguments", ["[ERROR] must be less than 201 characters: title"])


_STATUS = ("chat:write", "assistant:write")
METHODS = (
    Method("assistant.threads.setStatus", set_status, _STATUS),
    Method("assistant.threads.setTitle", set_title, ("assistant:write",)),
    Method("assistant.threads.setSuggestedPrompts", set_suggested_prompts, ("assistant:write",)),
    Method("agents.sessions.setStatus", session_set_status, ("chat:write",)),
    Method("agents.sessions.rename", session_rename, ("chat:write",)),
)
