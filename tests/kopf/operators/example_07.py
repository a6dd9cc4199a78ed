"""Handlers that are only known when an object is handled: one per item."""

import kopf


@kopf.on.create("kopfexamples")
async def create_fn(spec, **_):
    for item in spec["items"]:

        @kopf.subhandler(id=item)
        async def create_item(**_):
            pass
