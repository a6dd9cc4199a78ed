"""Two update handlers."""

import kopf


@kopf.on.update("kopfexamples")
async def first(**_):
    pass


@kopf.on.update("kopfexamples")
async def second(**_):
    pass
