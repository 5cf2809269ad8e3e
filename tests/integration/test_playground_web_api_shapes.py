"""The fields of each answer, by name and type, held to what Slack's own samples show."""

from collections.abc import AsyncGenerator
from typing import Any, cast

import pytest

from app.playground.model import Json
from app.playground.seed import ALICE, APP_TOKEN, BOB, BOT_ID, GENERAL, RANDOM, TEAM_ID
from app.playground.webapi.methods import METHODS
from tests.playground_api import Api, open_api

KINDS: dict[str, type] = {"s": str, "b": bool, "i": int, "l": list, "o": dict}
"""The letters of the tables below: string, boolean, integer, list, object."""

MESSAGE = "type:s text:s user:s ts:s team:s"
APP_MESSAGE = f"{MESSAGE} bot_id:s app_id:s bot_profile:o"
BOT_PROFILE = "id:s deleted:b name:s updated:i app_id:s icons:o team_id:s"
THREADED = "thread_ts:s reply_count:i reply_users_count:i latest_reply:s reply_users:l subscribed:b is_locked:b"
CHANNEL = (
    "id:s name:s is_channel:b is_group:b is_im:b created:i is_archived:b is_general:b unlinked:i "
    "name_normalized:s is_shared:b creator:s is_ext_shared:b is_org_shared:b shared_team_ids:l pending_shared:l "
    "pending_connected_team_ids:l is_pending_ext_shared:b is_private:b is_mpim:b topic:o purpose:o "
    "previous_names:l context_team_id:s updated:i is_member:b"
)
TOPIC = "value:s creator:s last_set:i"
DM = "id:s created:i is_archived:b is_im:b is_org_shared:b user:s context_team_id:s updated:i"
PROFILE = (
    "title:s phone:s skype:s real_name:s real_name_normalized:s display_name:s display_name_normalized:s "
    "status_text:s status_emoji:s status_expiration:i avatar_hash:s email:s first_name:s last_name:s "
    "image_24:s image_32:s image_48:s image_72:s image_192:s image_512:s status_text_canonical:s team:s"
)
USER = (
    "id:s team_id:s name:s deleted:b color:s real_name:s tz:s tz_label:s tz_offset:i profile:o is_admin:b "
    "is_owner:b is_primary_owner:b is_restricted:b is_ultra_restricted:b is_bot:b is_app_user:b updated:i "
    "is_email_confirmed:b who_can_share_contact_card:s"
)
FILE = (
    "id:s created:i timestamp:i name:s title:s mimetype:s filetype:s pretty_type:s user:s user_team:s "
    "editable:b mode:s alt_txt:s is_external:b external_type:s username:s size:i url_private:s "
    "url_private_download:s is_public:b public_url_shared:b display_as_bot:b permalink:s permalink_public:s "
    "comments_count:i is_starred:b shares:o channels:l groups:l ims:l has_rich_preview:b file_access:s"
)
SHARE = "reply_users:l reply_users_count:i reply_count:i ts:s channel_name:s team_id:s share_user_id:s source:s"
VIEW = (
    "id:s team_id:s type:s blocks:l private_metadata:s callback_id:s external_id:s state:o hash:s "
    "clear_on_close:b notify_on_close:b submit_disabled:b root_view_id:s app_id:s app_installed_team_id:s bot_id:s"
)
PROMPT = {"title": "One", "message": "Do one"}
PAGED = "response_metadata:o"

SHAPES: dict[str, dict[str, str]] = {
    "api.test": {"": "args:o"},
    "auth.test": {"": "url:s team:s user:s team_id:s user_id:s bot_id:s is_enterprise_install:b"},
    "apps.connections.open": {"": "url:s"},
    "team.info": {
        "team": "id:s name:s domain:s email_domain:s icon:o is_verified:b url:s avatar_base_url:s",
        "team.icon": "image_34:s image_44:s image_68:s image_88:s image_102:s image_132:s image_default:b",
    },
    "bots.info": {
        "bot": "id:s deleted:b name:s updated:i app_id:s user_id:s icons:o",
        "bot.icons": "image_36:s image_48:s image_72:s",
    },
    "emoji.list": {"": "emoji:o cache_ts:s"},
    "usergroups.list": {"": "usergroups:l"},
    "bookmarks.list": {"": "bookmarks:l"},
    "chat.postMessage": {
        "": "channel:s ts:s message:o",
        "message": f"{APP_MESSAGE} thread_ts:s parent_user_id:s metadata:o",
        "message.bot_profile": BOT_PROFILE,
    },
    "chat.postEphemeral": {"": "message_ts:s"},
    "chat.meMessage": {"": "channel:s ts:s"},
    "chat.update": {
        "": "channel:s ts:s text:s message:o",
        "message": f"{APP_MESSAGE} edited:o",
        "message.edited": "user:s ts:s",
    },
    "chat.getPermalink": {"": "channel:s permalink:s"},
    "chat.unfurl": {},
    "chat.startStream": {"": "channel:s ts:s"},
    "chat.appendStream": {"": "channel:s ts:s"},
    "chat.stopStream": {"": "channel:s ts:s message:o", "message": f"{APP_MESSAGE} blocks:l"},
    "chat.delete": {"": "channel:s ts:s"},
    "conversations.history": {
        "": "messages:l has_more:b pin_count:i",
        "messages[]": f"{MESSAGE} {THREADED} reactions:l",
        "messages[].reactions[]": "name:s users:l count:i",
    },
    "conversations.replies": {"": "messages:l has_more:b", "messages[]": f"{MESSAGE} {THREADED}"},
    "conversations.list": {
        "": f"channels:l {PAGED}",
        "channels[]": f"{CHANNEL} num_members:i",
        "channels[].topic": TOPIC,
        "channels[].purpose": TOPIC,
        "response_metadata": "next_cursor:s",
    },
    "conversations.info": {"channel": f"{CHANNEL} num_members:i locale:s"},
    "conversations.members": {"": f"members:l {PAGED}", "response_metadata": "next_cursor:s"},
    "conversations.open": {"channel": DM},
    "conversations.create": {"channel": CHANNEL},
    "conversations.join": {"channel": CHANNEL},
    "conversations.rename": {"channel": CHANNEL},
    "conversations.setTopic": {"channel": CHANNEL},
    "conversations.setPurpose": {"": "purpose:s", "channel": CHANNEL},
    "conversations.invite": {"channel": CHANNEL},
    "users.list": {"": f"members:l cache_ts:i {PAGED}", "members[]": USER, "members[].profile": PROFILE},
    "users.info": {"user": USER, "user.profile": PROFILE},
    "users.lookupByEmail": {"user": USER, "user.profile": PROFILE},
    "users.conversations": {"": f"channels:l {PAGED}", "channels[]": CHANNEL},
    "users.profile.get": {"profile": PROFILE},
    "users.getPresence": {"": "presence:s"},
    "reactions.add": {},
    "reactions.get": {"": "type:s channel:s message:o", "message": f"{MESSAGE} reactions:l permalink:s"},
    "reactions.list": {"": f"items:l {PAGED}", "items[]": "type:s channel:s message:o"},
    "pins.list": {
        "": "items:l",
        "items[]": "type:s created:i created_by:s channel:s message:o",
        "items[].message": f"{MESSAGE} permalink:s pinned_to:l",
    },
    "views.open": {"view": f"{VIEW} title:o"},
    "views.push": {"view": f"{VIEW} title:o previous_view_id:s"},
    "views.update": {"view": f"{VIEW} title:o"},
    "views.publish": {"view": VIEW},
    "files.getUploadURLExternal": {"": "upload_url:s file_id:s"},
    "files.completeUploadExternal": {"": "files:l", "files[]": FILE},
    "files.info": {"file": FILE, "file.shares": "public:o", f"file.shares.public.{GENERAL}[]": SHARE},
    "files.list": {"": "files:l paging:o", "files[]": FILE, "paging": "count:i total:i page:i pages:i"},
    "assistant.threads.setStatus": {},
    "assistant.threads.setTitle": {},
    "assistant.threads.setSuggestedPrompts": {},
    "agents.sessions.setStatus": {},
    "agents.sessions.rename": {},
}


@pytest.fixture
async def answers() -> AsyncGenerator[dict[str, Json]]:
    """The first answer of each method, out of one small story."""
    async with open_api() as api:
        api.grant(*(scope for method in METHODS.values() for scope in method.scopes))
        told: dict[str, Json] = {}
        for part in (_talk, _stream, _channels, _people, _views, _files):
            await part(api, told)
        yield told


async def _ask(api: Api, told: dict[str, Json], method: str, **args: Any) -> Json:
    answer = await api.call(method, token=args.pop("bearer", None) or api.app.bot_token, **args)
    assert answer["ok"] is True, (method, answer)
    return told.setdefault(method, answer)


async def _talk(api: Api, told: dict[str, Json]) -> None:
    root = api.workspace.post(GENERAL, ALICE, "see https://a.example")
    at: Json = {"channel": GENERAL, "timestamp": root.ts}
    metadata: Json = {"event_type": "a", "event_payload": {}}
    posted = await _ask(api, told, "chat.postMessage", channel=GENERAL, text="x", thread_ts=root.ts, metadata=metadata)
    await _ask(api, told, "reactions.add", **at, name="eyes")
    await _ask(api, told, "reactions.get", **at)
    await _ask(api, told, "reactions.list")
    await _ask(api, told, "conversations.history", channel=GENERAL)
    await _ask(api, told, "conversations.replies", channel=GENERAL, ts=root.ts)
    await _ask(api, told, "chat.update", channel=GENERAL, ts=posted["ts"], text="y")
    await _ask(api, told, "chat.postEphemeral", channel=GENERAL, user=ALICE, text="y")
    await _ask(api, told, "chat.meMessage", channel=GENERAL, text="y")
    await _ask(api, told, "chat.getPermalink", channel=GENERAL, message_ts=root.ts)
    unfurls = {"https://a.example": {"text": "q"}}
    await _ask(api, told, "chat.unfurl", channel=GENERAL, ts=root.ts, unfurls=unfurls)
    await _ask(api, told, "pins.add", **at)
    await _ask(api, told, "pins.list", channel=GENERAL)
    await _ask(api, told, "chat.delete", channel=GENERAL, ts=posted["ts"])


async def _stream(api: Api, told: dict[str, Json]) -> None:
    root = api.workspace.post(GENERAL, ALICE, "question")
    thread: Json = {"channel_id": GENERAL, "thread_ts": root.ts}
    await _ask(api, told, "assistant.threads.setStatus", **thread, status="is thinking…")
    await _ask(api, told, "assistant.threads.setTitle", **thread, title="t")
    await _ask(api, told, "assistant.threads.setSuggestedPrompts", **thread, prompts=[PROMPT])
    await _ask(api, told, "agents.sessions.setStatus", **thread, status="processing")
    await _ask(api, told, "agents.sessions.rename", **thread, title="t")
    started = await _ask(
        api,
        told,
        "chat.startStream",
        channel=GENERAL,
        thread_ts=root.ts,
        recipient_team_id=TEAM_ID,
        recipient_user_id=ALICE,
        markdown_text="a",
    )
    stream: Json = {"channel": GENERAL, "ts": started["ts"]}
    await _ask(api, told, "chat.appendStream", **stream, markdown_text="b")
    await _ask(api, told, "chat.stopStream", **stream)


async def _channels(api: Api, told: dict[str, Json]) -> None:
    channel = (await _ask(api, told, "conversations.create", name="new"))["channel"]["id"]
    await _ask(api, told, "conversations.rename", channel=channel, name="newer")
    await _ask(api, told, "conversations.setTopic", channel=channel, topic="t")
    await _ask(api, told, "conversations.setPurpose", channel=channel, purpose="p")
    await _ask(api, told, "conversations.invite", channel=channel, users=BOB)
    await _ask(api, told, "conversations.list")
    await _ask(api, told, "conversations.info", channel=GENERAL, include_num_members=True, include_locale=True)
    await _ask(api, told, "conversations.members", channel=GENERAL)
    await _ask(api, told, "conversations.open", users=BOB, return_im=True)
    await _ask(api, told, "conversations.join", channel=RANDOM)
    await _ask(api, told, "bookmarks.list", channel_id=GENERAL)


async def _people(api: Api, told: dict[str, Json]) -> None:
    await _ask(api, told, "users.info", user=ALICE)
    await _ask(api, told, "users.list", limit=1)
    await _ask(api, told, "users.lookupByEmail", email="ada@acme.example")
    await _ask(api, told, "users.conversations")
    await _ask(api, told, "users.profile.get", user=ALICE)
    await _ask(api, told, "users.getPresence", user=ALICE)
    await _ask(api, told, "bots.info", bot=BOT_ID)
    await _ask(api, told, "apps.connections.open", bearer=APP_TOKEN)
    for method in ("api.test", "auth.test", "team.info", "emoji.list", "usergroups.list"):
        await _ask(api, told, method)


async def _views(api: Api, told: dict[str, Json]) -> None:
    modal: Json = {"type": "modal", "title": {"type": "plain_text", "text": "t"}, "blocks": []}
    for method in ("views.open", "views.push"):
        await _ask(api, told, method, trigger_id=api.workspace.triggers.issue(ALICE), view=modal)
    await _ask(api, told, "views.update", view_id=told["views.open"]["view"]["id"], view=modal)
    await _ask(api, told, "views.publish", user_id=ALICE, view={"type": "home", "blocks": []})


async def _files(api: Api, told: dict[str, Json]) -> None:
    announced = await _ask(api, told, "files.getUploadURLExternal", filename="a.txt", length=1)
    async with api.session.post(announced["upload_url"], data=b"a") as response:
        assert response.status == 200
    files = [{"id": announced["file_id"]}]
    await _ask(api, told, "files.completeUploadExternal", files=files, channel_id=GENERAL)
    await _ask(api, told, "files.info", file=announced["file_id"])
    await _ask(api, told, "files.list")


def _at(answer: Any, path: str) -> Any:
    """The value at a path of field names; ``[]`` after a name means the first element of the list."""
    value = answer
    for name in path.split(".") if path else []:
        value = value[name.removesuffix("[]")]
        value = value[0] if name.endswith("[]") else value
    return value


def _is_a(value: object, kind: type) -> bool:
    """A boolean is no integer here."""
    return type(value) is kind


async def test_every_answer_has_slacks_fields_in_slacks_types(answers: dict[str, Json]) -> None:
    wrong: list[str] = []
    for method, shapes in SHAPES.items():
        for path, fields in shapes.items():
            value = cast("Json", _at(answers[method], path))
            for field in fields.split():
                name, _, kind = field.partition(":")
                if not _is_a(value.get(name), KINDS[kind]):
                    wrong.append(f"{method} {path}.{name}: {value.get(name)!r} is not {kind}")
    assert wrong == []


async def test_the_story_tells_every_method_that_has_a_shape(answers: dict[str, Json]) -> None:
    assert set(SHAPES) - set(answers) == set()
    assert all(answer["ok"] is True for answer in answers.values())
