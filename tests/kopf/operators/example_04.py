"""Events about the handled object."""

import kopf


@kopf.on.create("kopfexamples")
async def create_fn(body, **_):
    kopf.event(body, type="SomeType", reason="SomeReason", message="an event")
    kopf.info(body, reason="SomeReason", message="information")
    kopf.warn(body, reason="SomeReason", message="a warning")
    try:
        raise RuntimeError("an error.")
    except RuntimeError:
        kopf.exception(body, reason="SomeReason", message="A handler caught")
