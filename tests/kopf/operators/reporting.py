"""
Reports what kopf does to the driver, and lets the driver decide how calls end.

Every call of a handler is announced to the driver, which answers once the call may continue, and how:
the handler's own code runs, or the call fails with a given error. The other reports let the driver
wait for conditions: a listing is finished, an object's event is processed, Events are posted.

Environment: DRIVER is the URL of the driver, OPERATOR the name of this process.
"""

import asyncio
import os

import aiohttp
import kopf
from kopf._cogs.clients import events, watching
from kopf._core.actions import execution
from kopf._core.engines import peering, posting
from kopf._core.intents import handlers as kinds
from kopf._core.reactor import processing

DRIVER = os.environ["DRIVER"]
OPERATOR = os.environ["OPERATOR"]
FAILURES = {
    "temporary": lambda: kopf.TemporaryError("not yet", delay=0.1),
    "permanent": lambda: kopf.PermanentError("never"),
    "error": lambda: ValueError("a bug"),
}

pending_events = 0
watched_pauses: dict[object, asyncio.Task[None]] = {}
sessions: dict[asyncio.AbstractEventLoop, aiohttp.ClientSession] = {}


async def report(what: str, **values) -> dict:
    loop = asyncio.get_running_loop()
    if loop not in sessions:
        sessions[loop] = aiohttp.ClientSession(timeout=aiohttp.ClientTimeout(total=None))
    body = {"operator": OPERATOR, "pendingEvents": pending_events, **values}
    async with sessions[loop].post(f"{DRIVER}/{what}", json=body) as response:
        return await response.json()


def cause_of(handler, cause) -> str:
    match handler:
        case kinds.TimerHandler():
            return "timer"
        case kinds.DaemonHandler():
            return "daemon"
        case kinds.IndexingHandler():
            return "index"
        case kinds.WatchingHandler():
            return cause.event["type"] or "INITIAL"
        case kinds.ChangingHandler():
            return cause.reason.value
        case kinds.WebhookHandler():
            return handler.reason.value
        case kinds.ActivityHandler():
            return handler.activity.value
    raise TypeError(f"unknown handler: {handler!r}")


def plain(value):
    if hasattr(value, "items"):
        return {key: plain(each) for key, each in value.items()}
    return [plain(each) for each in value] if isinstance(value, (list, tuple)) else value


def call_of(handler, cause, retry: int) -> dict:
    # kopf appends the field to the name.
    field = getattr(handler, "field", None)
    name = handler.id.removesuffix(f"/{'.'.join(field)}") if field else handler.id
    call = {"handler": name, "cause": cause_of(handler, cause), "attempt": retry + 1}
    if getattr(cause, "body", None) is not None:
        metadata = cause.body.metadata
        call["object"] = {"kind": cause.body.get("kind"), "name": metadata.get("name"), "uid": metadata.get("uid")}
    if isinstance(handler, kinds.ChangingHandler) and (handler.field or cause.reason.value == "update"):
        adjusted = handler.adjust_cause(cause)
        call |= {"old": plain(adjusted.old), "current": plain(adjusted.new)}
    return call


invoke_handler = execution.invoke_handler
process_resource_event = processing.process_resource_event
infinite_watch = watching.infinite_watch
enqueue = posting.enqueue
post_event = events.post_event
process_peering_event = peering.process_peering_event


async def reported_call(*, handler, cause, retry, **kwargs):
    call = call_of(handler, cause, retry)
    answer = await report("call", **call)
    outcome = "cancelled"
    try:
        if answer["answer"] in FAILURES:
            raise FAILURES[answer["answer"]]()
        result = await invoke_handler(handler=handler, cause=cause, retry=retry, **kwargs)
        outcome = "success"
        return result
    except execution.HandlerChildrenRetry:
        outcome = "steps"
        raise
    except kopf.TemporaryError:
        outcome = "temporary"
        raise
    except kopf.PermanentError:
        outcome = "permanent"
        raise
    except Exception:
        outcome = "error"
        raise
    finally:
        await asyncio.shield(report("ended", id=answer["id"], outcome=outcome))


async def reported_processing(*, raw_event, **kwargs):
    metadata = raw_event["object"]["metadata"]
    what = {"uid": metadata["uid"], "version": metadata["resourceVersion"], "type": raw_event["type"]}
    await report("processing", **what)
    version = await process_resource_event(raw_event=raw_event, **kwargs)
    await report("processed", **what)
    return version


async def reported_watch(*, resource, **kwargs):
    async for event in infinite_watch(resource=resource, **kwargs):
        if event is watching.Bookmark.LISTED:
            await report("listed", plural=resource.plural)
        yield event


def counted_enqueue(*args, **kwargs) -> None:
    global pending_events
    pending_events += 1
    enqueue(*args, **kwargs)


async def reported_post(**kwargs) -> None:
    global pending_events
    try:
        await post_event(**kwargs)
    finally:
        pending_events -= 1
        await report("posted")


async def reported_peering(*, conflicts_found, **kwargs) -> None:
    if conflicts_found not in watched_pauses:
        watched_pauses[conflicts_found] = asyncio.create_task(report_pauses(conflicts_found))
    await process_peering_event(conflicts_found=conflicts_found, **kwargs)


async def report_pauses(conflicts_found) -> None:
    while True:
        await conflicts_found.wait_for(True)
        await report("paused")
        await conflicts_found.wait_for(False)
        await report("resumed")


execution.invoke_handler = reported_call
processing.process_resource_event = reported_processing
watching.infinite_watch = reported_watch
posting.enqueue = counted_enqueue
events.post_event = reported_post
peering.process_peering_event = reported_peering
