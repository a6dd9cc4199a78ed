"""Most features at once."""

import kopf
import pykube


@kopf.on.startup()
async def startup_once(**_):
    pass


@kopf.on.cleanup()
async def cleanup_fn(**_):
    pass


@kopf.on.create("kopfexamples")
async def create_1(body, **_):
    kopf.info(body, reason="AnyReason")
    kopf.event(body, type="Warning", reason="SomeReason", message="It cannot be done")
    return {"job1": 100}


@kopf.on.create("kopfexamples", backoff=0.1)
async def create_2(retry, **_):
    if not retry:
        raise ValueError("a bug")
    return {"job2": 100}


@kopf.on.update("kopfexamples")
async def update(**_):
    pass


@kopf.on.field("kopfexamples", field="spec.items")
async def update_items(**_):
    pass


@kopf.on.delete("kopfexamples")
async def delete(**_):
    pass


@kopf.on.create("kopfexamples")
def create_pod(**_):
    pod = {
        "apiVersion": "v1",
        "kind": "Pod",
        "spec": {"containers": [{"name": "main", "image": "busybox"}]},
    }
    kopf.adopt(pod)
    kopf.label(pod, {"application": "example-99"})
    api = pykube.HTTPClient(pykube.KubeConfig.from_env())
    pykube.Pod(api, pod).create()
    api.session.close()


@kopf.on.event("pods", labels={"application": "example-99"})
async def pod_changed(**_):
    pass
