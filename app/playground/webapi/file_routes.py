"""Where the bytes of files travel: the upload address and the download address."""

from aiohttp import BodyPartReader, web
from aiohttp.http_exceptions import HttpProcessingError

from app.playground.model import File, SlackApp
from app.playground.webapi.files import may_see
from app.playground.webapi.uploads import Uploads
from app.playground.workspace import Workspace

_LOGIN_PAGE = (
    "<!DOCTYPE html><html><head><title>Sign in</title></head>"
    "<body><h1>Sign in to your workspace</h1><form></form></body></html>"
)


def file_routes(workspace: Workspace, uploads: Uploads) -> list[web.RouteDef]:
    async def upload(request: web.Request) -> web.Response:
        """The bytes as they are, or as a form with one file."""
        pending = uploads.by_ticket.get(request.match_info["ticket"])
        if pending is None or pending.is_uploaded:
            return web.Response(status=404, text="No such upload")
        content = await _content(request)
        if len(content) != pending.length:
            return web.Response(status=400, text="Length differs from the announced one")
        pending.file.content = content
        pending.is_uploaded = True
        return web.Response(text=f"OK - {len(content)}")

    async def download(request: web.Request) -> web.Response:
        """Without a token that may read files, Slack shows a page to sign in, with status 200."""
        file = workspace.files.get(request.match_info["file_id"])
        app = _app_of(workspace, request)
        if app is None or "files:read" not in app.scopes:
            return web.Response(text=_LOGIN_PAGE, content_type="text/html")
        if file is None or not _may_download(workspace, app, file):
            return web.Response(status=404, text="File not found")
        return web.Response(body=file.content, headers=_headers(file))

    return [web.post("/upload/{ticket}", upload), web.get("/files/{file_id}/{name}", download)]


async def _content(request: web.Request) -> bytes:
    """Read off the connection, so that the server's limit for the bodies of API calls does not apply."""
    if not request.content_type.startswith("multipart/"):
        return await request.content.read()
    try:
        async for part in await request.multipart():
            if isinstance(part, BodyPartReader) and part.filename:
                return bytes(await part.read(decode=True))
    except (ValueError, HttpProcessingError) as exc:
        raise web.HTTPBadRequest(text="Malformed form") from exc
    return b""


def _app_of(workspace: Workspace, request: web.Request) -> SlackApp | None:
    token = request.headers.get("Authorization", "").removeprefix("Bearer ").strip()
    return None if token in workspace.revoked_tokens else workspace.app_by_token(token)


def _may_download(workspace: Workspace, app: SlackApp, file: File) -> bool:
    return may_see(app.bot_user_id, file, set(workspace.visible_channels(app.bot_user_id)))


def _headers(file: File) -> dict[str, str]:
    disposition = f'attachment; filename="{file.id}"'
    return {"Content-Type": file.mimetype, "Content-Disposition": disposition}
