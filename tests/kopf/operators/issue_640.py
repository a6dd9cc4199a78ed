"""One deletion handler."""

import kopf


@kopf.on.delete("kopfexamples")
async def clean_up(**_):
    pass
