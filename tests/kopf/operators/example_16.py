"""Indexes of Pods, used by a timer."""

import kopf


@kopf.index("pods")
async def by_label(labels, name, **_):
    return {value: name for value in labels.values()}


@kopf.timer("kopfexamples", interval=0.2)
async def count(by_label, patch, status, **_):
    names = sorted(name for names in by_label.values() for name in names)
    if status.get("pods") != names:
        patch.status["pods"] = names
