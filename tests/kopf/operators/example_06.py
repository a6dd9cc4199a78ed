"""Operators that know of each other: one works, the others pause."""

import kopf


@kopf.on.create("kopfexamples")
async def create_fn(**_):
    pass
