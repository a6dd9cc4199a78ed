"""A child with a fixed name."""

import kopf
import pykube


@kopf.on.create("kopfexamples")
def create_fn(name, **_):
    pod = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": f"{name}-child"},
        "spec": {"containers": [{"name": "main", "image": "busybox"}]},
    }
    kopf.adopt(pod)
    api = pykube.HTTPClient(pykube.KubeConfig.from_env())
    pykube.Pod(api, pod).create()
    api.session.close()
