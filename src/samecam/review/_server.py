"""The pages and what they ask for, as an application that a web server runs."""

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from samecam.documents import HASH, parse
from samecam.errors import SamecamError
from samecam.report import shown, style
from samecam.review import _pages as pages
from samecam.review._addresses import Here, here_of
from samecam.review._decide import check_body, decide
from samecam.review._heat import HeatMaps
from samecam.review._history import History
from samecam.review._pictures import LARGE, SMALL, BusyError, Pictures
from samecam.review._state import Moment, State
from samecam.review._templates import environment, render
from samecam.review._words import decision_words

if TYPE_CHECKING:
    from starlette.applications import Starlette
    from starlette.requests import Request
    from starlette.responses import Response

_LONGEST_BODY = 16 * 2**20
_LOOK = 0.25  # seconds between two looks whether something has changed
_LOOK_AGAIN = 8  # of these until the files of a case that others hold are looked at
_NAMES = 30


class Server:
    """Answers requests about one case.

    Parameters
    ----------
    state : the case and what stands in it
    pictures : of its photos
    blur : whether pictures are blurred until a reader asks otherwise
    """

    def __init__(self, state: State, pictures: Pictures, *, blur: bool = False) -> None:
        self._state, self._pictures, self._blur = state, pictures, blur
        self._templates = environment()
        self._heat, self._history = HeatMaps(), History()
        self._style = style().encode()
        self.ending = False

    def app(self) -> "Starlette":
        """The application, without its guard."""
        from starlette.applications import Starlette
        from starlette.routing import BaseRoute, Mount, Route
        from starlette.staticfiles import StaticFiles

        shown_pages = {
            "/": ("queue", "Questions", pages.queue_page),
            "/cameras": ("cameras", "Cameras", pages.cameras_page),
            "/camera": ("camera", "Camera", pages.camera_page),
            "/alone": ("alone", "Alone", pages.alone_page),
            "/two": ("two", "Two cameras", pages.two_page),
            "/sources": ("sources", "Sources", pages.sources_page),
            "/log": ("log", "Log", pages.log_page),
        }
        routes: list[BaseRoute] = [
            Route(path, self._page(*given)) for path, given in shown_pages.items()
        ]
        routes += [
            Route("/photo/{sha256}", self._photo),
            Route("/small/{name}", self._picture(SMALL)),
            Route("/large/{name}", self._picture(LARGE)),
            Route("/heat", self._heat_words),
            Route("/heat.png", self._heat_picture),
            Route("/names", self._names),
            Route("/events", self._events),
            Route("/decide", self._decide, methods=["POST"]),
            Route("/static/page.css", self._page_css),
            Mount("/static", StaticFiles(directory=Path(__file__).parent / "static")),
        ]
        return Starlette(routes=routes)

    def _page(
        self, page: str, title: str, content: Callable[[Moment, Here], pages.Context]
    ) -> Callable[["Request"], "Response"]:
        def answer(request: "Request") -> "Response":
            here = here_of(request.scope["path"], request.scope["query_string"])
            moment = self._state.now
            return self._rendered(moment, page, title, here, lambda: content(moment, here))

        return answer

    def _rendered(
        self,
        moment: Moment,
        page: str,
        title: str,
        here: Here,
        content: Callable[[], pages.Context],
    ) -> "Response":
        """A page, or one that says that there is no such thing."""
        from starlette.responses import HTMLResponse

        try:
            context, template, status = content(), f"{page}.html", 200
        except pages.NothingThereError as error:
            context, template, status = {"words": str(error)}, "missing.html", 404
        everywhere = self._everywhere(moment, page, title, here)
        return HTMLResponse(render(self._templates, template, {**everywhere, **context}), status)

    def _everywhere(self, moment: Moment, page: str, title: str, here: Here) -> pages.Context:
        """What all pages have."""
        alone = int((moment.decided.camera_of < 0).sum())
        links = [
            ("/", "Questions", "queue", len(moment.questions)),
            ("/cameras", "Cameras", "cameras", len(moment.cameras.all)),
            ("/alone", "Alone", "alone", alone),
            ("/sources", "Sources", "sources", None),
            ("/log", "Log", "log", len(moment.decided.decisions)),
        ]
        return {
            "case": moment.index.saved.folder.resolve().name or "case",
            "version": moment.version,
            "moment": moment,
            "here": here,
            "page": page,
            "title": title,
            "pages": links,
            "blur": self._blur,
            "looking": self._state.looking,
            "examiner": self._state.examiner,
            "stale": moment.decided.stale,
        }

    def _photo(self, request: "Request") -> "Response":
        sha256, moment = request.path_params["sha256"], self._state.now
        here = here_of(request.scope["path"], b"")
        history = self._history.of(sha256, moment.decided.decisions)
        reason = self._pictures.reasons.get(sha256, "")
        return self._rendered(
            moment,
            *("photo", "Photo", here),
            lambda: pages.photo_page(moment, sha256, history, reason),
        )

    def _picture(self, side: int) -> Callable[["Request"], Any]:
        from starlette.responses import Response

        async def answer(request: "Request") -> Response:
            sha256, _, kind = request.path_params["name"].partition(".")
            if kind != "jpg" or not HASH.fullmatch(sha256):
                return Response(status_code=404)
            try:
                data = await self._pictures.get(sha256, side)
            except BusyError:
                return Response(status_code=503, headers={"retry-after": "1"})
            if data is None:
                reason = self._pictures.reasons.get(sha256, "not found")
                return Response(_blank(reason), 200, media_type="image/svg+xml")
            return Response(data, media_type="image/jpeg")

        return answer

    def _sides(self, here: Here) -> tuple[Moment, list[int], list[int]]:
        moment = self._state.now
        sides = [moment.cameras.by_name.get(here.get(name)) for name in ("first", "second")]
        if sides[0] is None or sides[1] is None:
            raise SamecamError("There is no such camera any more.")
        return moment, sides[0].rows, sides[1].rows

    def _heat_words(self, request: "Request") -> "Response":
        """A part of a page: correlations of two cameras."""
        from starlette.responses import HTMLResponse

        here = here_of(request.scope["path"], request.scope["query_string"])
        context: dict[str, Any] = {"heat": None, "reason": "", "picture": here.moved("/heat.png")}
        try:
            moment, first, second = self._sides(here)
            context["heat"] = self._heat.get(moment.index, first, second)
        except (SamecamError, OSError, ValueError) as error:
            said = str(error) if isinstance(error, SamecamError) else "They cannot be read."
            context["reason"] = shown(said)
        return HTMLResponse(render(self._templates, "heat.html", context))

    def _heat_picture(self, request: "Request") -> "Response":
        from starlette.responses import Response

        here = here_of(request.scope["path"], request.scope["query_string"])
        try:
            moment, first, second = self._sides(here)
            made = self._heat.get(moment.index, first, second)
        except (SamecamError, OSError, ValueError):
            return Response(status_code=404)
        return Response(made.png, media_type="image/png")

    def _names(self, request: "Request") -> "Response":
        """Names of cameras that have some words in them."""
        from starlette.responses import JSONResponse

        wanted = here_of("", request.scope["query_string"]).get("q").casefold()
        names = (facts.name for facts in self._state.now.cameras.all)
        found = [name for name in names if wanted in name.casefold()][:_NAMES]
        return JSONResponse({"names": found})

    async def _decide(self, request: "Request") -> "Response":
        from starlette.concurrency import run_in_threadpool
        from starlette.responses import JSONResponse

        data = b""
        async for chunk in request.stream():
            data += chunk
            if len(data) > _LONGEST_BODY:
                return JSONResponse({"error": "This is too much at once."}, 413)
        try:
            body = check_body(parse(data))
        except (ValueError, TypeError) as error:
            return JSONResponse({"error": f"This cannot be read: {shown(str(error))}"}, 400)
        if self._state.looking:
            words = f"Nothing can be decided here. {self._state.looking}"
            return JSONResponse({"error": shown(words)}, 403)
        questions = self._state.queue.by_key
        try:
            decision = await run_in_threadpool(
                self._state.decide, lambda deciding, now: decide(deciding, now, body, questions)
            )
        except SamecamError as error:
            return JSONResponse({"error": shown(str(error))}, 409)
        now = self._state.now
        return JSONResponse(
            {
                "version": now.version,
                "number": decision.number,
                "kind": decision.kind,
                "camera": decision.camera,
                "said": decision_words(now, decision),
                "questions": len(now.questions),
                "cameras": len(now.cameras.all),
            }
        )

    async def _events(self, _: "Request") -> "Response":
        """Tells a tab that something has changed, as long as it listens."""
        from starlette.responses import StreamingResponse

        async def tell() -> AsyncIterator[bytes]:
            told, looks = -1, 0
            while not self.ending:
                version = self._state.now.version
                if version != told:
                    told = version
                    yield f"data: {json.dumps({'version': version})}\n\n".encode()
                await asyncio.sleep(_LOOK)
                looks += 1
                if looks % _LOOK_AGAIN == 0:
                    await asyncio.to_thread(self._state.look_again)
                if looks % 60 == 0:
                    yield b": still here\n\n"

        return StreamingResponse(tell(), media_type="text/event-stream")

    def _page_css(self, _: "Request") -> "Response":
        from starlette.responses import Response

        return Response(self._style, media_type="text/css")


def _blank(reason: str) -> str:
    """A picture that says why there is none; the reason is a word of ours."""
    return (
        '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 256 192" width="256" height="192">'
        '<text x="128" y="100" text-anchor="middle" font-family="sans-serif" font-size="18" '
        f'fill="#8792a2">{reason}</text></svg>'
    )
