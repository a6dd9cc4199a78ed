"""A child that belongs to its parent."""

import kopf
import pykube


@kopf.on.create("kopfexamples")
def create_fn(spec, **_):
    pod = {
        "apiVersion": "v1",
        "kind": "Pod",
        "spec": {"containers": [{"name": "main", "image": "busybox", "env": [{"name": "FIELD", "value": spec["field"]}]}]},
    }
    kopf.adopt(pod)
    api = pykube.HTTPClient(pykube.KubeConfig.from_env())
    child = pykube.Pod(api, pod)
    child.create()
    api.session.close()
    return {"children": [child.metadata["uid"]]}
