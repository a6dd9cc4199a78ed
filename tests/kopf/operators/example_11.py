"""Filters: labels, annotations, functions, values and changes of fields."""

import kopf


@kopf.on.create("kopfexamples", labels={"somelabel": "somevalue"})
async def labels_matching(**_):
    pass


@kopf.on.create("kopfexamples", labels={"somelabel": kopf.PRESENT})
async def labels_present(**_):
    pass


@kopf.on.create("kopfexamples", labels={"other": kopf.ABSENT})
async def labels_absent(**_):
    pass


@kopf.on.create("kopfexamples", labels={"somelabel": lambda value, **_: value == "somevalue"})
async def labels_callback(**_):
    pass


@kopf.on.create("kopfexamples", annotations={"someannotation": "somevalue"})
async def annotations_matching(**_):
    pass


@kopf.on.create("kopfexamples", annotations={"someannotation": kopf.PRESENT})
async def annotations_present(**_):
    pass


@kopf.on.create("kopfexamples", annotations={"other": kopf.ABSENT})
async def annotations_absent(**_):
    pass


@kopf.on.create("kopfexamples", annotations={"someannotation": lambda value, **_: value == "other"})
async def annotations_callback(**_):
    pass


@kopf.on.create("kopfexamples", when=lambda **_: True)
async def when_true(**_):
    pass


@kopf.on.create("kopfexamples", when=lambda **_: False)
async def when_false(**_):
    pass


@kopf.on.create("kopfexamples", field="spec.field", value="value")
async def field_value(**_):
    pass


@kopf.on.create("kopfexamples", field="spec.field", value="other")
async def field_other_value(**_):
    pass


@kopf.on.create("kopfexamples", field="spec.field", value=kopf.PRESENT)
async def field_present(**_):
    pass


@kopf.on.create("kopfexamples", field="spec.other", value=kopf.PRESENT)
async def field_not_present(**_):
    pass


@kopf.on.update("kopfexamples", field="spec.field", old="value", new="changed")
async def field_changed(**_):
    pass


@kopf.daemon("kopfexamples", field="spec.field", value="value")
async def field_daemon(stopped, **_):
    await stopped.wait()
