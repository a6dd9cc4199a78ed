"""An operator in a program of its own: the memo has values that the program passes on."""

import kopf


@kopf.on.startup()
async def share(memo, **_):
    memo.create_text = "Hello, {name}!"
    memo.delete_text = "Goodbye, {name}!"


@kopf.on.create("kopfexamples")
async def create_fn(memo, name, body, **_):
    kopf.info(body, reason="Created", message=memo.create_text.format(name=name))


@kopf.on.delete("kopfexamples")
async def delete_fn(memo, name, body, **_):
    kopf.info(body, reason="Deleted", message=memo.delete_text.format(name=name))
