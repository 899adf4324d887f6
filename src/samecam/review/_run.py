"""`samecam review`: a server on this machine alone, from its start to Ctrl-C."""

import contextlib
import gc
import os
import signal
import socket
import threading
from collections.abc import Callable, Iterator
from types import FrameType

from samecam import compute
from samecam.errors import ParameterError, SamecamError
from samecam.review._pictures import Pictures
from samecam.review._security import Guard
from samecam.review._server import Server
from samecam.review._state import State

HOST = "127.0.0.1"
_END_SECONDS = 2
_IDLE_SECONDS = 60
_CONNECTIONS = 200


class Review:
    """A case on a page: opened, served until it is told to stop, and closed.

    Parameters
    ----------
    case : a clustered case
    examiner : who decides; their name stands in each decision
    port : where to listen; 0: any that is free
    blur : whether pictures are blurred until a reader asks otherwise
    read_only : whether nothing can be decided
    resources : whose workers draw pictures
    progress : called as progress(phase, done, total) while the case is read

    Attributes
    ----------
    app : what answers requests
    address : to be opened, once
    looking : why nothing can be decided; "" if it can
    """

    def __init__(
        self,
        case: str | os.PathLike[str],
        examiner: str,
        *,
        port: int = 0,
        blur: bool = False,
        read_only: bool = False,
        resources: compute.Resources | None = None,
        progress: compute.Progress = compute.no_progress,
    ) -> None:
        import uvicorn

        self._socket = _listen(port)
        with contextlib.ExitStack() as opened:
            opened.callback(self._socket.close)
            self.state = State(case, examiner, read_only=read_only, progress=progress)
            opened.callback(self.state.close)
            # What was read stays as long as the page: looking through it for garbage takes .2 s
            # of 100,000 photos, in the midst of an answer.
            frozen = gc.get_freeze_count()
            gc.collect()
            gc.freeze()
            if not frozen:  # else the process it runs in has chosen to, and goes on so
                opened.callback(gc.unfreeze)
            self.looking = self.state.looking
            self._pictures = Pictures(
                self.state.index,
                keep=not self.looking,
                resources=resources or compute.Resources(),
            )
            opened.callback(self._pictures.close)
            self._server = Server(self.state, self._pictures, blur=blur)
            self.port = self._socket.getsockname()[1]
            self.app = Guard(self._server.app(), self.port)
            self.address = self.app.address
            config = uvicorn.Config(
                self.app,
                log_config=None,
                access_log=False,
                log_level="error",
                server_header=False,
                proxy_headers=False,
                ws="none",
                http="h11",
                loop="asyncio",
                lifespan="off",
                limit_concurrency=_CONNECTIONS,
                timeout_keep_alive=_IDLE_SECONDS,
                timeout_graceful_shutdown=_END_SECONDS,
            )
            self._uvicorn = uvicorn.Server(config)
            # Signals are ours: see `stopped_by_signals`.
            self._uvicorn.capture_signals = _no_signals  # type: ignore[method-assign]
            self._opened = opened.pop_all()

    def serve(self, ready: Callable[[], None] = lambda: None) -> None:
        """Answer until `stop`; `ready` is called once somebody can ask.

        (Connections wait at the socket from the beginning.)
        """
        background = threading.Thread(target=self._draw, daemon=True, name="thumbnails")
        background.start()
        ready()
        self._uvicorn.run(sockets=[self._socket])

    def stop(self) -> None:
        """Let `serve` end."""
        self._server.ending = True
        self._uvicorn.should_exit = True

    def close(self) -> None:
        """Let go of the case and of everything else."""
        self.stop()
        self._opened.close()

    def _draw(self) -> None:
        """Small pictures of all photos, those that are shown first first."""
        cameras = self.state.now.cameras.all
        first = [row for facts in cameras for row in facts.rows[:4]]
        rest = [row for facts in cameras for row in facts.rows[4:]]
        chosen = {*first, *rest}
        alone = [row for row in range(len(self.state.index.photos)) if row not in chosen]
        with contextlib.suppress(OSError, SamecamError):
            self._pictures.make_all([*first, *alone, *rest])

    def __enter__(self) -> "Review":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _listen(port: int) -> socket.socket:
    """A socket on this machine's own address, which no other machine reaches."""
    # By its name TCP does not wait for more to send (asyncio looks at that).
    listening = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind((HOST, port))
        listening.listen(128)
    except (OSError, OverflowError) as error:
        listening.close()
        said = getattr(error, "strerror", None) or error
        message = f"{{name}} is {port}, where nothing can listen ({said}): give another, or none."
        raise ParameterError("port", message) from None
    return listening


@contextlib.contextmanager
def _no_signals() -> Iterator[None]:
    yield


@contextlib.contextmanager
def stopped_by_signals(review: Review) -> Iterator[None]:
    """Ctrl-C, and a request to end, stop the review; as before afterwards."""

    def stop(_: int, __: FrameType | None) -> None:
        review.stop()

    before = {which: signal.signal(which, stop) for which in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        for which, handler in before.items():
            signal.signal(which, handler)
