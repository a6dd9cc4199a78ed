"""A creation and an update handler."""

import kopf


@kopf.on.create("kopfexamples")
async def create_fn(**_):
    pass


@kopf.on.update("kopfexamples")
async def update_fn(**_):
    pass
