"""Ids that exist: those of the service under test, put where a generated case has others."""

import os
import random
import re

import requests
import schemathesis

session = requests.Session()
session.headers["Authorization"] = f"Bearer {os.environ['KEY']}"
base = os.environ["BASE_URL"]
chance = random.Random(1)
UUID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.IGNORECASE)
KEY = re.compile(r"[!-~]{1,200}")


def ids(path):
    return [record["id"] for record in session.get(base + path).json()]


def made(path, name):
    return session.post(base + path, json={"name": name}).json()["id"]


known = {
    "campaigns": ids("/campaigns"),
    "tags": [made("/tags", f"Of the checks {i}") for i in range(3)],
    "groups": [made("/groups", f"Of the checks {i}") for i in range(3)],
}


def question():
    return session.post(base + "/inspiration-questions", json={"question": "Of the checks, to be deleted"}).json()["id"]


def of(kind, method="GET"):
    """A record of a kind; one that a case may delete is nobody else's."""
    if kind == "inspiration-questions" and method == "DELETE":
        return question()
    here = known.get(kind) or ids(f"/{kind}")
    if not here:
        return None
    return here[-1] if method == "DELETE" and len(here) > 1 else here[0]


def is_uuid(value):
    return isinstance(value, str) and UUID.fullmatch(value) is not None


sent = 0


@schemathesis.hook
def map_headers(context, headers):
    """A key twice gets the first answer again, though what that made may be deleted by now: each is sent once."""
    global sent
    key = (headers or {}).get("Idempotency-Key")
    if isinstance(key, str) and KEY.fullmatch(key):
        sent += 1
        headers["Idempotency-Key"] = f"{key}-{sent}"
    return headers


@schemathesis.hook
def map_path_parameters(context, path_parameters):
    method, kind = context.operation.method.upper(), context.operation.path.split("/")[1]
    # What an earlier answer gave is a UUID of version 7 already.
    generated = is_uuid((path_parameters or {}).get("id")) and path_parameters["id"][14] != "7"
    if generated and chance.random() < 0.7:
        path_parameters["id"] = of(kind, method) or path_parameters["id"]
    return path_parameters


def is_told_by_the_schema(values):
    """JSON Schema cannot tell that only different items count: 101 times the same is one, and fine."""
    lists = [value for value in values.values() if isinstance(value, list)] if isinstance(values, dict) else []
    return not any(len(items) > 100 >= len({str(item).lower() for item in items}) for items in lists)


@schemathesis.hook
def filter_query(context, query):
    return is_told_by_the_schema(query)


@schemathesis.hook
def filter_body(context, body):
    return is_told_by_the_schema(body)


@schemathesis.hook
def map_body(context, body):
    if isinstance(body, dict):
        for field, kind in {"tagIds": "tags", "groupIds": "groups", "groups": "groups"}.items():
            items = body.get(field)
            if isinstance(items, list) and len(items) <= 100 and all(is_uuid(item) for item in items):
                body[field] = known[kind][: len(items)]
        if is_uuid(body.get("contentPillarId")):
            body["contentPillarId"] = None
        if body.get("domain") == "links.example.com":
            body["domain"] = None
    return body
