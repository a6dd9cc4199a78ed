"""Handlers for creation, changes and restarts."""

import kopf


@kopf.on.resume("kopfexamples")
async def resume_fn(**_):
    pass


@kopf.on.create("kopfexamples")
async def create_fn(**_):
    pass


@kopf.on.update("kopfexamples")
async def update_fn(**_):
    pass
