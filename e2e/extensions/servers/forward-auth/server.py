"""Signs users in for a proxy in front of an application, in the manner of oauth2-proxy: no user is asked for a password.

/oauth2/auth      202 with the user in headers, or 401
/oauth2/start     to the identity provider, which is /oauth2/callback here
/oauth2/callback  sets the cookie of the session, and sends the browser back
/oauth2/seen      what the last question to /oauth2/auth looked like
"""
import json
import sys
from http.cookies import SimpleCookie
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, quote, urlsplit

SESSIONS = {"s-1": "ann", "s-2": "bob"}
seen = {}


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def answer(self):
        length = int(self.headers.get("content-length", 0))
        self.rfile.read(length)
        url = urlsplit(self.path)
        query = parse_qs(url.query)
        if url.path == "/oauth2/auth":
            return self.auth(length)
        if url.path == "/oauth2/start":
            return self.say(302, {"Location": "/oauth2/callback?state=" + quote(query.get("rd", ["/"])[0], safe="")})
        if url.path == "/oauth2/callback":
            back = query.get("state", ["/"])[0]
            # Anything else would send users wherever a link says.
            back = back if back.startswith("/") and not back.startswith("//") else "/"
            return self.say(302, {"Location": back, "Set-Cookie": "_session=s-1; Path=/; HttpOnly; SameSite=Lax"})
        if url.path == "/oauth2/seen":
            return self.say(200, {"Content-Type": "application/json"}, json.dumps(seen))
        return self.say(404)

    def auth(self, length):
        seen.clear()
        seen.update({name.lower(): value for name, value in self.headers.items()}, method=self.command, length=length)
        cookie = SimpleCookie(self.headers.get("cookie", "")).get("_session")
        user = SESSIONS.get(cookie.value) if cookie else None
        if user is None:
            return self.say(401, {}, "Unauthorized\n")
        self.say(202, {"X-Auth-Request-User": user, "X-Auth-Request-Email": user + "@example.com"})

    def say(self, status, headers={}, body=""):
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body.encode())

    do_GET = do_HEAD = do_POST = do_PUT = do_DELETE = answer

    def log_message(self, *args):
        pass


ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Handler).serve_forever()
