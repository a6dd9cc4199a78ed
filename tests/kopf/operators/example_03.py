"""Errors: temporary, permanent, limited, and those that are bugs."""

import kopf


@kopf.on.create("kopfexamples")
async def permanent(**_):
    raise kopf.PermanentError("it can never work")


@kopf.on.create("kopfexamples")
async def fourth_attempt(retry, **_):
    if retry < 3:
        raise kopf.TemporaryError("it does not work yet", delay=0.1)


@kopf.on.create("kopfexamples", retries=3, backoff=0.1)
async def three_attempts(**_):
    raise ValueError("a bug")


@kopf.on.create("kopfexamples", errors=kopf.ErrorsMode.PERMANENT, backoff=0.1)
async def one_attempt(**_):
    raise ValueError("a bug")
