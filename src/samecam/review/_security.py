"""Who may ask: this machine's own browser, which has shown the token once, and no other page.

A page elsewhere can make a browser send requests here. It cannot give them our Host (a name that
it has pointed at 127.0.0.1 is another one), nor our cookie (SameSite=Strict), nor our Origin, and
what is answered it cannot read, because nothing here allows it to.
"""

import secrets
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any
from urllib.parse import parse_qs

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
    "base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
)
HEADERS = {
    "content-security-policy": POLICY,
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "camera=(), microphone=(), geolocation=()",
    "cache-control": "no-store",
}


class Guard:
    """Lets through to the pages what may pass, and puts the headers on every answer.

    Parameters
    ----------
    app : what is guarded
    port : where it listens
    """

    def __init__(self, app: App, port: int) -> None:
        self._app = app
        self._hosts = {f"127.0.0.1:{port}", f"localhost:{port}"}
        self._token: str | None = secrets.token_urlsafe(32)
        self._session = secrets.token_urlsafe(32)
        self._cookie = f"samecam-{port}"
        self.address = f"http://127.0.0.1:{port}/?token={self._token}"

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] != "http":
            if scope["type"] == "websocket":
                await send({"type": "websocket.close", "code": 1008})
            return
        headers = _headers(scope)
        if refusal := self._refusal(scope, headers):
            await _answer(send, 403, refusal)
        elif self._shows_token(scope):
            await self._let_in(send)
        elif not self._is_known(headers):
            await _answer(send, 403, _STRANGER)
        else:
            await self._app(scope, receive, _with_headers(send))

    def _refusal(self, scope: Scope, headers: dict[str, list[str]]) -> str:
        """Why a request is of another page; "" if it is not."""
        hosts = headers.get("host", [])
        if len(hosts) != 1 or hosts[0].lower() not in self._hosts:
            return "This address is not ours."
        origins, sites = headers.get("origin", []), headers.get("sec-fetch-site", [])
        if any(origin != f"http://{hosts[0].lower()}" for origin in origins):
            return "Another page asked for this."
        if any(site not in ("same-origin", "none") for site in sites):
            return "Another page asked for this."
        if scope["method"] in ("GET", "HEAD"):
            return ""
        if scope["method"] != "POST":
            return "This cannot be done here."
        if not origins and "same-origin" not in sites:
            return "Only our own page can change something."
        kinds = [value.partition(";")[0].strip() for value in headers.get("content-type", [])]
        return "" if kinds == ["application/json"] else "Changes are asked for as JSON."

    def _shows_token(self, scope: Scope) -> bool:
        given = parse_qs(scope["query_string"].decode("latin-1")).get("token", [])
        if scope["method"] != "GET" or scope["path"] != "/" or len(given) != 1:
            return False
        return self._token is not None and _same(given[0], self._token)

    async def _let_in(self, send: Send) -> None:
        """Take the token for a cookie, once."""
        self._token = None
        cookie = f"{self._cookie}={self._session}; Path=/; HttpOnly; SameSite=Strict"
        more = [(b"location", b"/"), (b"set-cookie", cookie.encode())]
        await _answer(send, 303, "", more)

    def _is_known(self, headers: dict[str, list[str]]) -> bool:
        for line in headers.get("cookie", []):
            for part in line.split(";"):
                name, _, value = part.strip().partition("=")
                if name == self._cookie and _same(value, self._session):
                    return True
        return False


_STRANGER = (
    "This page is for the browser in which samecam review was opened. Its address works once: "
    "start samecam review again for a new one."
)


def _same(given: str, known: str) -> bool:
    return secrets.compare_digest(given.encode("utf-8", "replace"), known.encode())


def _headers(scope: Scope) -> dict[str, list[str]]:
    result: dict[str, list[str]] = {}
    for name, value in scope["headers"]:
        result.setdefault(name.decode("latin-1").lower(), []).append(value.decode("latin-1"))
    return result


def _raw() -> list[tuple[bytes, bytes]]:
    return [(name.encode(), value.encode()) for name, value in HEADERS.items()]


def _with_headers(send: Send) -> Send:
    """Every answer with the headers of ours, whatever it says itself."""

    async def sending(message: Message) -> None:
        if message["type"] == "http.response.start":
            ours = _raw()
            names = {name for name, _ in ours}
            kept = [(n, v) for n, v in message.get("headers", []) if n.lower() not in names]
            message = {**message, "headers": [*kept, *ours]}
        await send(message)

    return sending


async def _answer(
    send: Send, status: int, text: str, more: list[tuple[bytes, bytes]] | None = None
) -> None:
    body = text.encode()
    plain = [
        (b"content-type", b"text/plain; charset=utf-8"),
        (b"content-length", str(len(body)).encode()),
    ]
    headers = [*plain, *(more or []), *_raw()]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})
