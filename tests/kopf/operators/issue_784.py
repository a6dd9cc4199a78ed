"""A field whose name has dots, as a path in a string and as a list of names."""

import kopf


@kopf.on.field("kopfexamples", field="metadata.annotations.example.com/size")
async def by_string(**_):
    pass


@kopf.on.field("kopfexamples", field=["metadata", "annotations", "example.com/size"])
async def by_list(**_):
    pass
