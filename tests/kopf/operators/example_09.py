"""An operator to be tested: its handler logs one line."""

import kopf


@kopf.on.create("kopfexamples")
async def create_fn(logger, **_):
    logger.info("The handler logged this.")
