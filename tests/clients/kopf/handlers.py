"""An operator in the manner of kopf's examples: children, results, fields, retries, sub-handlers, indexes, daemons, events."""

import logging

import kopf
import pykube


@kopf.on.startup()
def configure(settings: kopf.OperatorSettings, logger, **_):
    settings.posting.level = logging.WARNING
    logger.info("startup: configured")


@kopf.index("kopfexamples")
def durations(name, spec, **_):
    return {spec.get("duration", "none"): name}


@kopf.on.create("kopfexamples")
def create_child(body, name, spec, logger, durations: kopf.Index, **_):
    child = {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": f"{name}-child"},
        "data": {"duration": spec.get("duration", "")},
    }
    kopf.adopt(child)
    kopf.label(child, {"parent": name})
    api = pykube.HTTPClient(pykube.KubeConfig.from_env())
    pykube.ConfigMap(api, child).create()
    api.session.close()
    logger.info(f"create_child: of {sorted(durations.get(spec.get('duration'), []))}")
    kopf.event(body, type="Normal", reason="Made", message=f"Made {name}-child")
    return {"name": f"{name}-child"}


@kopf.on.create("kopfexamples", retries=5)
def at_the_third_try(retry, logger, **_):
    logger.info(f"at_the_third_try: {retry}")
    if retry < 2:
        raise kopf.TemporaryError("not yet", delay=0.1)


@kopf.on.create("kopfexamples", when=lambda spec, **_: spec.get("wrong"))
def never(**_):
    raise kopf.PermanentError("it can never be")


@kopf.on.create("kopfexamples", errors=kopf.ErrorsMode.IGNORED, when=lambda spec, **_: spec.get("wrong"))
def ignored(**_):
    raise ValueError("an error of the code")


@kopf.on.create("kopfexamples")
def with_parts(spec, **_):
    for item in spec.get("items", []):

        @kopf.subhandler(id=item)
        def part(item=item, logger=None, **_):
            logger.info(f"with_parts: {item}")
            return item.upper()


@kopf.on.update("kopfexamples")
def changed(diff, logger, **_):
    logger.info(f"changed: {[(op, list(field), old, new) for op, field, old, new in diff]}")


@kopf.on.field("kopfexamples", field="spec.duration")
def duration_changed(old, new, logger, **_):
    logger.info(f"duration_changed: from {old} to {new}")


@kopf.on.field("kopfexamples", field="metadata.labels.stage", value="done")
def done(logger, patch, **_):
    logger.info("done: the label is there")
    patch.status["stage"] = "done"


@kopf.on.delete("kopfexamples")
def take_leave(name, logger, **_):
    logger.info(f"take_leave: of {name}")


@kopf.on.event("configmaps", labels={"parent": kopf.PRESENT})
def seen(event, name, logger, **_):
    logger.info(f"seen: {event['type']} {name}")


@kopf.daemon("kopfexamples")
async def attend(stopped, name, logger, **_):
    logger.info(f"attend: begins with {name}")
    await stopped.wait()
    logger.info(f"attend: ends with {name}")
