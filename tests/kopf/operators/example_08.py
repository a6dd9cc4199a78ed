"""Observers of all changes. Their errors are ignored."""

import kopf


@kopf.on.event("kopfexamples")
async def failing(**_):
    raise ValueError("a bug")


@kopf.on.event("kopfexamples")
async def observing(**_):
    pass
