"""A creation handler of Pods."""

import kopf


@kopf.on.create("pods")
async def create_fn(**_):
    pass
