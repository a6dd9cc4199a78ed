"""An index with one worker."""

import kopf


@kopf.on.startup()
async def configure(settings, **_):
    settings.queueing.worker_limit = 1


@kopf.index("kopfexamples")
async def by_name(name, **_):
    return {name: True}


@kopf.on.create("kopfexamples")
async def create_fn(**_):
    pass
