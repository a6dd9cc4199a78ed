"""One creation handler."""

import kopf


@kopf.on.create("kopfexamples")
async def create_fn(**_):
    pass
