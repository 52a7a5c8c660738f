"""Schemathesis hooks. They replace generated ids with ids of records that exist in the service under test."""

import os
import random
import re
import uuid

import requests
import schemathesis

session = requests.Session()
session.headers["Authorization"] = f"Bearer {os.environ['KEY']}"
base_url = os.environ["BASE_URL"]
generator = random.Random(1)
UUID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.IGNORECASE)
IDEMPOTENCY_KEY = re.compile(r"[!-~]{1,200}")


def list_ids(path):
    return [record["id"] for record in session.get(base_url + path).json()]


def create_named(path, name):
    return session.post(base_url + path, json={"name": name}).json()["id"]


existing_ids = {
    "campaigns": list_ids("/campaigns"),
    "tags": [create_named("/tags", f"Schemathesis {i}") for i in range(3)],
    "groups": [create_named("/groups", f"Schemathesis {i}") for i in range(3)],
}


def create_question():
    body = {"question": "A question that can be deleted"}
    return session.post(base_url + "/inspiration-questions", json=body).json()["id"]


def create_key():
    """Returns the id of a new key, or a random id if there are too many keys."""
    return session.post(base_url + "/keys", json={}).json().get("id") or str(uuid.uuid4())


def create_member():
    return session.post(base_url + "/members", json={"name": "Kim", "email": f"{uuid.uuid4()}@example.com"}).json()["id"]


def choose_id(resource, method="GET"):
    """Returns the id of an existing record, or None. A DELETE gets a new question, or the last of several records.

    Changes of keys and members get a new record, because the requests need their own key and its member."""
    if resource == "keys" and method != "GET":
        return create_key()
    if resource == "members" and method != "GET":
        return create_member()
    if resource == "inspiration-questions" and method == "DELETE":
        return create_question()
    ids = existing_ids.get(resource) or list_ids(f"/{resource}")
    if not ids:
        return None
    return ids[-1] if method == "DELETE" and len(ids) > 1 else ids[0]


def is_uuid(value):
    return isinstance(value, str) and UUID.fullmatch(value) is not None


me = session.get(base_url + "/me").json()
own_ids = {me["key"]["id"], me["member"] and me["member"]["id"]}


@schemathesis.hook
def before_call(context, case, kwargs):
    """Protects the key of this run and its member, whose ids some phases take from earlier responses."""
    if case.method.upper() != "GET" and (case.path_parameters or {}).get("id") in own_ids:
        case.path_parameters["id"] = str(uuid.uuid4())


key_count = 0


@schemathesis.hook
def map_headers(context, headers):
    """Makes each idempotency key unique. A replayed response can name a record that was deleted in the meantime."""
    global key_count
    key = (headers or {}).get("Idempotency-Key")
    if isinstance(key, str) and IDEMPOTENCY_KEY.fullmatch(key):
        key_count += 1
        headers["Idempotency-Key"] = f"{key}-{key_count}"
    return headers


@schemathesis.hook
def map_path_parameters(context, path_parameters):
    method, resource = context.operation.method.upper(), context.operation.path.split("/")[1]
    # An id from an earlier response is a UUID of version 7: keep it.
    is_generated = is_uuid((path_parameters or {}).get("id")) and path_parameters["id"][14] != "7"
    is_own_key_in_danger = resource in ("keys", "members") and method != "GET" and path_parameters
    if is_own_key_in_danger or (is_generated and generator.random() < 0.7):
        path_parameters["id"] = choose_id(resource, method) or path_parameters["id"]
    return path_parameters


def is_covered_by_schema(values):
    """Returns whether the schema can tell if the values are valid. It cannot if a list has 101 equal items, which count as one."""
    lists = [value for value in values.values() if isinstance(value, list)] if isinstance(values, dict) else []
    return not any(len(items) > 100 >= len({str(item).lower() for item in items}) for items in lists)


@schemathesis.hook
def filter_query(context, query):
    return is_covered_by_schema(query)


@schemathesis.hook
def filter_body(context, body):
    return is_covered_by_schema(body)


@schemathesis.hook
def map_body(context, body):
    if isinstance(body, dict):
        for field, resource in {"tagIds": "tags", "groupIds": "groups", "groups": "groups"}.items():
            items = body.get(field)
            if isinstance(items, list) and len(items) <= 100 and all(is_uuid(item) for item in items):
                body[field] = existing_ids[resource][: len(items)]
        if is_uuid(body.get("contentPillarId")):
            body["contentPillarId"] = None
        if body.get("domain") == "links.example.com":
            body["domain"] = None
    return body
