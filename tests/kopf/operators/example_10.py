"""A built-in kind. One function for two causes starts work in memory, which deletion ends."""

import asyncio

import kopf

tasks: dict[str, asyncio.Task[None]] = {}


@kopf.on.resume("pods")
@kopf.on.create("pods")
async def pod_in_sight(name, **_):
    tasks[name] = asyncio.create_task(asyncio.sleep(3600))


@kopf.on.delete("pods")
async def pod_deleted(name, **_):
    tasks.pop(name).cancel()
