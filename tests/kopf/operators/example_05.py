"""Several handlers per cause, in order, and a field."""

import kopf


@kopf.on.resume("kopfexamples")
async def resume_fn_1(**_):
    pass


@kopf.on.create("kopfexamples")
async def create_fn_1(**_):
    pass


@kopf.on.resume("kopfexamples")
async def resume_fn_2(**_):
    pass


@kopf.on.create("kopfexamples")
async def create_fn_2(**_):
    pass


@kopf.on.update("kopfexamples")
async def update_fn(**_):
    pass


@kopf.on.delete("kopfexamples")
async def delete_fn_1(**_):
    pass


@kopf.on.delete("kopfexamples")
async def delete_fn_2(**_):
    pass


@kopf.on.field("kopfexamples", field="spec.field")
async def field_fn(**_):
    pass
