"""Daemons: one fails at first and then returns when it is stopped, one is cancelled."""

import asyncio

import kopf


@kopf.daemon("kopfexamples")
async def background(stopped, retry, patch, **_):
    if retry < 3:
        raise kopf.TemporaryError("it does not work yet", delay=0.1)
    await stopped.wait()
    patch.status["message"] = "finished"


@kopf.daemon(
    "kopfexamples",
    cancellation_backoff=0.1,
    cancellation_timeout=0.5,
    annotations={"someannotation": "somevalue"},
)
async def cancelled(**_):
    await asyncio.sleep(3600)
