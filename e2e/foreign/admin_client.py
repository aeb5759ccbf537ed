"""The admin API as a client in Python finds it, on httpx: who is let in, lists, filters, the live tail, explanations,
downloads, checks of a config, and a request that the gateway sends itself."""

import json
import sys
from collections.abc import Iterator

import httpx

SAME_ORIGIN = {"x-portico-same-origin": "1"}


def main(asked: dict) -> dict:
    patience = httpx.Timeout(60)
    with httpx.Client(base_url=asked["admin"], timeout=patience) as stranger:
        entry = enter(stranger, asked["token"])
    authorization = {"authorization": f"Bearer {asked['token']}"}
    with (
        httpx.Client(base_url=asked["admin"], timeout=patience, headers=authorization) as admin,
        httpx.Client(base_url=asked["gateway"], timeout=patience) as gateway,
    ):
        for path in asked["paths"]:
            gateway.get(path)
        tailed = tail(admin, gateway, asked["tailed"])
        limited = listed(admin, {"outcome": "limited"})[0]
        explanation = admin.get(f"/api/requests/{limited['id']}/explain").raise_for_status().json()
        return {
            "entry": entry,
            "pages": pages(admin),
            "limited": [limited["path"], limited["status"], limited["reason"]["policy"]],
            "chosen": [each["path"] for each in listed(admin, {"expression": asked["expression"]})],
            "refused": admin.get("/api/requests", params={"status": "many"}).status_code,
            "tailed": tailed,
            "explained": [explanation["headline"], explanation["decidedBy"]["place"]["line"]],
            "downloaded": downloaded(admin),
            "checked": checked(admin, asked["broken"]),
            "sent": sent(admin, asked["paths"][0]),
        }


def enter(stranger: httpx.Client, token: str) -> dict:
    """The token itself, or a session as a page has it."""
    bearer = {"authorization": f"Bearer {token}"}
    opened = stranger.post("/ui/session", headers={**bearer, **SAME_ORIGIN})
    proof = {"x-portico-session": opened.json()["proof"]}
    return {
        "other": stranger.get("/api/state", headers={"authorization": "Bearer other"}).status_code,
        "token": stranger.get("/api/state", headers=bearer).status_code,
        "cookie": stranger.get("/api/state").status_code,
        "session": stranger.get("/api/state", headers=proof).status_code,
        "rebound": stranger.get("/api/state", headers={**bearer, "host": "evil.example"}).status_code,
        "unsaid": stranger.post("/api/config/check", headers=bearer, json={"text": ""}).status_code,
    }


def listed(admin: httpx.Client, params: dict) -> list[dict]:
    return admin.get("/api/requests", params=params).raise_for_status().json()["requests"]


def pages(admin: httpx.Client) -> list[list[str]]:
    """Two at a time, to the end."""
    found: list[list[str]] = []
    before: str | None = None
    while True:
        params = {"limit": 2, **({} if before is None else {"before": before})}
        page = admin.get("/api/requests", params=params).raise_for_status().json()
        found.append([each["path"] for each in page["requests"]])
        before = page["next"]
        if before is None:
            return found


def tail(admin: httpx.Client, gateway: httpx.Client, path: str) -> list[str]:
    """What the tail tells of what is asked once it is open."""
    with admin.stream("GET", "/api/requests/stream", params={"status": "404"}) as stream:
        lines = stream.iter_lines()
        next(line for line in lines if line.startswith(": ready"))
        gateway.get(path)
        return [each["path"] for each in next(events(lines))["requests"]]


def events(lines: Iterator[str]) -> Iterator[dict]:
    for line in lines:
        if line.startswith("data: "):
            yield json.loads(line.removeprefix("data: "))


def downloaded(admin: httpx.Client) -> int:
    with admin.stream("GET", "/api/requests/download") as stream:
        return sum(1 for line in stream.iter_lines() if "requestHeaders" in json.loads(line))


def checked(admin: httpx.Client, text: str) -> list[int]:
    answer = admin.post("/api/config/check", json={"text": text}, headers=SAME_ORIGIN).raise_for_status().json()
    problem = answer["problems"][0]
    return [problem["line"], problem["column"]]


def sent(admin: httpx.Client, path: str) -> list:
    bind = admin.get("/api/routes").raise_for_status().json()["binds"][0]
    call = {"bind": bind["key"], "listener": bind["listeners"][0]["key"], "method": "GET", "path": path}
    with admin.stream("POST", "/api/send", json=call, headers=SAME_ORIGIN) as stream:
        told = list(events(stream.iter_lines()))
    text = "".join(each.get("text", "") for each in told if each["type"] == "body")
    return [told[0]["status"], text, told[-1]["type"], told[-1]["record"]["path"]]


print(json.dumps(main(json.loads(sys.argv[1]))))
