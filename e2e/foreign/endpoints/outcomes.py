"""Runs the calls that a test asks for, and prints what each of them returned or raised as one line of JSON."""

import json
import sys

SOUND = b"s" * 100_000
SOUND_NAME = "gespräch.mp3"
PICTURES = [b"first picture", b"second picture"]
MASK = b"mask"
DOCUMENTS = ["about cats", "about dogs", "about birds"]
ODD = {"odd": "member"}
QUERY = "dogs"


class Refused(Exception):
    """An error as a library raised it."""

    def __init__(self, status, message):
        super().__init__(message)
        self.status = status
        self.message = message


def run(calls):
    """`calls` has a function for each name of a call, or of a library and a call, with a job as its argument."""

    def outcome(job):
        name = job["call"] if job["call"] in calls else f"{job['library']}_{job['call']}"
        try:
            return {"value": calls[name](job)}
        except Refused as error:
            return {"error": {"status": error.status, "message": error.message}}

    print(json.dumps([outcome(job) for job in json.loads(sys.argv[1])["jobs"]]))
