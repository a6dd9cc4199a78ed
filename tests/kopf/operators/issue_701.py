"""An optional deletion handler."""

import kopf


@kopf.on.delete("kopfexamples", optional=True)
async def clean_up(**_):
    pass
