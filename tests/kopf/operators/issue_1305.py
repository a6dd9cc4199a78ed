"""One creation handler in two processes."""

import kopf


@kopf.on.create("kopfexamples")
async def create_fn(**_):
    pass
