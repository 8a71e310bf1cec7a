"""A strict implementation of lichess's API for external engines.

It combines both servers of the API: registration, and work that is handed out and answered.
"""

import json
import queue
import re
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import jsonschema

TOKEN = "lip_oOoOoOoOoOoO"
POLL = 0.5

# lichess's enumeration UciVariant.
UCI_VARIANTS = (
    *("chess", "crazyhouse", "antichess", "atomic", "horde", "kingofthehill", "racingkings"),
    "3check",
)
REGISTRATION = {
    "type": "object",
    "additionalProperties": False,
    "required": ["name", "maxThreads", "maxHash", "defaultDepth", "providerSecret"],
    "properties": {
        "name": {"type": "string", "minLength": 3, "maxLength": 200},
        "maxThreads": {"type": "integer", "minimum": 1, "maximum": 65536},
        "maxHash": {"type": "integer", "minimum": 1, "maximum": 1048576},
        "defaultDepth": {"type": "integer", "minimum": 0, "maximum": 246},
        "variants": {"type": "array", "items": {"enum": list(UCI_VARIANTS)}},
        "providerSecret": {"type": "string", "minLength": 16, "maxLength": 1024},
        "providerData": {"type": "string"},
    },
}
ACQUIRE = {
    "type": "object",
    "additionalProperties": False,
    "required": ["providerSecret"],
    "properties": {"providerSecret": {"type": "string"}},
}
INFO = re.compile(
    r"info( depth \d+| seldepth \d+| multipv [1-5]| score (cp|mate) -?\d+( (lower|upper)bound)?"
    r"| nodes \d+| nps \d+| hashfull \d+| tbhits \d+| time \d+)+"
    r"( pv( [a-h][1-8][a-h][1-8][qrbn]?)+)"
)
NEEDED = ("depth", "multipv", "score", "nodes", "time", "pv")


class Answer:
    """The received answer to one piece of work."""

    def __init__(self):
        self.lines = queue.Queue()
        self.ended = threading.Event()
        self.whole = False
        self.hang_up = threading.Event()


class LichessServer:
    """The server. faults: by path the statuses of the next responses."""

    def __init__(self, port=0, tls=None, secret=""):
        self.engines = {}
        self.secret = secret  # of the registered engine
        self.requests = []
        self.wrong = []
        self.faults = {}
        self.answers = {}
        self._work = queue.Queue()
        server = self

        class Handler(LichessHandler):
            lichess = server

        self._http = ThreadingHTTPServer(("127.0.0.1", port), Handler)
        self._http.daemon_threads = False
        self.port = self._http.server_address[1]
        self.url = f"{'http' if tls is None else 'https'}://127.0.0.1:{self.port}"
        if tls is not None:
            self._http.socket = tls.wrap_socket(self._http.socket, server_side=True)
        self.stopping = threading.Event()
        self._thread = threading.Thread(target=self._http.serve_forever, args=(0.02,))
        self._thread.start()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.stop()
        assert self.wrong == []

    def stop(self):
        self.stopping.set()
        for answer in self.answers.values():
            answer.hang_up.set()
        self._http.shutdown()
        self._http.server_close()
        self._thread.join()

    def ask(self, number, **work):
        """Queue an analysis request."""
        common = {
            "sessionId": "1", "threads": 1, "hash": 16, "multiPv": 1, "variant": "chess",
            "initialFen": "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1", "moves": [],
        }  # fmt: skip
        self.answers[number] = Answer()
        self._work.put({"id": number, "work": common | work, "engine": {"id": "eei_1"}})
        return self.answers[number]

    def next_work(self):
        try:
            return self._work.get(timeout=POLL)
        except queue.Empty:
            return None

    def expect(self, right, why):
        if not right:
            self.wrong.append(why)


class LichessHandler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    lichess: LichessServer

    def log_message(self, *_):
        pass

    def do_GET(self):
        self._registering(None, lambda body: list(self.lichess.engines.values()))

    def do_POST(self):
        if self.path == "/api/external-engine/work":
            self._hand_out()
        elif match := re.fullmatch(r"/api/external-engine/work/([\w-]+)", self.path):
            self._take_answer(match[1])
        else:
            self._registering(
                REGISTRATION, lambda body: self._keep(f"eei_{self.lichess.port}", body)
            )

    def do_PUT(self):
        self._registering(REGISTRATION, lambda body: self._keep(self.path.rpartition("/")[2], body))

    def _keep(self, number, body):
        kept = {"id": number, "clientSecret": "ees_1", "userId": "bobby", **body}
        del kept["providerSecret"]
        self.lichess.engines[number] = kept
        self.lichess.secret = body["providerSecret"]
        return kept

    def _registering(self, schema, act):
        self.lichess.requests.append((self.command, self.path))
        body = self._body(schema)
        allowed = self.headers["Authorization"] == f"Bearer {TOKEN}"
        known = re.fullmatch(r"/api/external-engine(/eei_\w+)?", self.path)
        self.lichess.expect(known, f"path {self.path}")
        if self._fault("/api/external-engine"):
            return
        if not allowed:
            self._reply(401, {"error": f"No such token {self.headers['Authorization']}"})
        else:
            self._reply(200, act(body))

    def _hand_out(self):
        body = self._body(ACQUIRE)
        self.lichess.expect(self.headers["Authorization"] is None, "a token where none is asked")
        self.lichess.expect(body["providerSecret"] == self.lichess.secret, "another secret")
        if self._fault(self.path):
            return
        work = None if self.lichess.stopping.is_set() else self.lichess.next_work()
        if work is None:
            self.send_response(204)
            self.end_headers()
        else:
            self._reply(200, work)

    def _take_answer(self, number):
        lichess = self.lichess
        lichess.expect(self.headers["Transfer-Encoding"] == "chunked", "no stream")
        lichess.expect(self.headers["Content-Type"] == "text/plain", "no plain text")
        lichess.expect(self.headers["Authorization"] is None, "a token where none is asked")
        if self._fault("/submit"):
            self.close_connection = True
            return
        answer = lichess.answers[number]
        self.connection.settimeout(0.02)
        try:
            while (size := int(self._read_line(answer), 16)) != 0:
                line = self._read(answer, size).decode()
                self._read(answer, 2)
                lichess.expect(line.endswith("\n") and line.count("\n") == 1, f"no line: {line!r}")
                if line.startswith("info"):
                    lichess.expect(INFO.fullmatch(line.strip()), line)
                    missing = [each for each in NEEDED if f" {each} " not in line]
                    lichess.expect(not missing, f"{missing} missing in {line}")
                else:
                    lichess.expect(re.fullmatch(r"bestmove \S+( ponder \S+)?\n", line), line)
                answer.lines.put(line.strip())
            self._read(answer, 2)
            answer.whole = True
            self._reply(200, {})
        except EOFError:
            pass
        finally:
            self.close_connection = True
            answer.ended.set()

    def _read_line(self, answer):
        line = b""
        while not line.endswith(b"\r\n"):
            line += self._read(answer, 1)
        return line

    def _read(self, answer, size):
        """Read `size` bytes of a stream. Raises EOFError at its end or after a hang-up."""
        data = b""
        while len(data) < size:
            if answer.hang_up.is_set():
                raise EOFError
            try:
                more = self.connection.recv(size - len(data))
            except TimeoutError:
                continue
            except OSError:
                raise EOFError from None
            if not more:
                raise EOFError
            data += more
        return data

    def _body(self, schema):
        data = self.rfile.read(int(self.headers["Content-Length"] or 0))
        if schema is None:
            return None
        self.lichess.expect(self.headers["Content-Type"] == "application/json", "no JSON")
        body = json.loads(data)
        try:
            jsonschema.validate(body, schema)
        except jsonschema.ValidationError as error:
            self.lichess.wrong.append(error.message)
        return body

    def _fault(self, path):
        faults = self.lichess.faults.get(path)
        if not faults:
            return False
        status = faults.pop(0)
        if status is None:  # break the connection
            self.close_connection = True
        else:
            self._reply(status, {"error": "out of order"})
        return True

    def _reply(self, status, value):
        content = json.dumps(value).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)


# A buffered stream would read ahead of `_read`, which uses the socket.
LichessHandler.rbufsize = 0
