"""Two creation handlers and an update handler."""

import kopf


@kopf.on.create("kopfexamples")
async def first(**_):
    pass


@kopf.on.create("kopfexamples")
async def second(**_):
    pass


@kopf.on.update("kopfexamples")
async def update_fn(**_):
    pass
