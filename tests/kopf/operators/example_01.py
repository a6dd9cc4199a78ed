"""A handler whose result is written to the status."""

import kopf


@kopf.on.create("kopfexamples")
async def create_fn(spec, **_):
    return {"message": f"hello for {spec['duration']}"}
