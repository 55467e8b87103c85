"""Adapts generated values to rules that a schema cannot express, so that the service is expected to accept them."""

import base64
import os
import re
from datetime import datetime, timezone

import schemathesis


@schemathesis.hook
def filter_path_parameters(context, path_parameters):
    """Skip ids with a percent escape: the tool decodes it before it encodes the id, and would request another id."""
    if context.operation is None or context.operation.label != "GET /admin/api/checks/{id}/explain":
        return True
    return not any(re.search("%[0-9A-Fa-f]{2}", str(value)) for value in (path_parameters or {}).values())


@schemathesis.hook
def before_call(context, case, kwargs):
    """Adapts the values that a call refuses because of each other, or because of their content."""
    adapt = ADAPTATIONS.get(case.operation.label)
    if adapt:
        adapt(case)


def set_time(case):
    """Set a click's time to now: from a server key, the service refuses a time outside the click's window."""
    if os.environ.get("AFTERLINK_KEY_KIND") != "server":
        return
    if isinstance(case.body, dict) and is_time(case.body.get("click_timestamp")):
        case.body["click_timestamp"] = datetime.now(timezone.utc).isoformat(timespec="milliseconds")


def set_play_report(case):
    """Replace text that is no JSON object; without a fingerprint, leave out the report that may take its place."""
    headers, name = case.headers or {}, "X-Play-Referrer"
    if name not in headers:
        return
    if "fingerprint" not in (case.query or {}):
        del headers[name]
    elif re.fullmatch("[A-Za-z0-9_-]+={0,2}", str(headers[name])):
        headers[name] = base64.urlsafe_b64encode(b"{}").decode()


def keep_one_value(case):
    """Keep one of the values that no count has together."""
    query = case.query or {}
    sent = [name for name in ("source", "platform", "os_version", "browser", "link") if query.get(name)]
    for name in sent if query.get("campaign") else sent[1:]:
        del query[name]


def leave_out_cursor(case):
    """Leave out a cursor, which only a row of the table can have."""
    if re.fullmatch("[0-9A-Za-z_-]+", str((case.query or {}).get("since", ""))):
        del case.query["since"]


def send_one_referrer(case):
    """Leave out the install referrer if Google Play's report has one, which must be the same text."""
    play = case.body.get("play") if isinstance(case.body, dict) else None
    if isinstance(play, dict) and play.get("installReferrer"):
        case.body.pop("referrer", None)


ADAPTATIONS = {
    "POST /v1/deferred-deeplink/click": set_time,
    "GET /v1/deferred-deeplink": set_play_report,
    "GET /admin/stats": keep_one_value,
    "GET /admin/api/export/{file}": leave_out_cursor,
    "POST /v1/deferred-deeplink/resolve": send_one_referrer,
}


def is_time(value):
    try:
        return datetime.fromisoformat(str(value).upper().replace("Z", "+00:00")).tzinfo is not None
    except ValueError:
        return False
