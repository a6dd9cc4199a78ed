"""Two handlers for restarts."""

import kopf


@kopf.on.resume("kopfexamples")
async def resume_1(**_):
    pass


@kopf.on.resume("kopfexamples")
async def resume_2(**_):
    pass
