"""Startup, which may take several attempts, cleanup, and credentials."""

import kopf
from kopf import login_via_pykube


@kopf.on.startup()
async def startup_once(**_):
    pass


@kopf.on.startup()
async def startup_fourth_attempt(retry, **_):
    if retry < 3:
        raise kopf.TemporaryError("it does not work yet", delay=0.1)


@kopf.on.cleanup()
async def cleanup_fn(**_):
    pass


@kopf.on.login(errors=kopf.ErrorsMode.PERMANENT)
async def login_fn(**kwargs):
    return login_via_pykube(**kwargs)


@kopf.on.event("pods")
async def pod_task(**_):
    pass
