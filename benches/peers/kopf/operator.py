"""The operator of the benchmark with kopf: one handler for create, update and resume that patches the status.

Environment: WORKLOAD is "status" or "configmap"; WORKERS limits the number of concurrent objects.
"""

import datetime
import os

import kopf
import kubernetes_asyncio

WITH_CONFIG_MAP = os.environ.get("WORKLOAD") == "configmap"
OF = "bench.example.com", "v1", "items"


@kopf.on.startup()
async def configure(settings: kopf.OperatorSettings, memo: kopf.Memo, **_):
    settings.posting.enabled = False
    if "WORKERS" in os.environ:
        settings.queueing.worker_limit = int(os.environ["WORKERS"])
    if WITH_CONFIG_MAP:
        kubernetes_asyncio.config.load_incluster_config()
        memo.core = kubernetes_asyncio.client.CoreV1Api()


@kopf.on.cleanup()
async def close(memo: kopf.Memo, **_):
    if WITH_CONFIG_MAP:
        await memo.core.api_client.close()


@kopf.on.resume(*OF)
@kopf.on.create(*OF)
@kopf.on.update(*OF, field="spec")
async def reconcile(spec, meta, status, patch, body, memo, **_):
    if WITH_CONFIG_MAP:
        await apply_config_map(spec, meta, body, memo.core)
    generation = meta["generation"]
    if status.get("observedGeneration") == generation:
        return
    now = datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")
    patch.status["double"] = spec["size"] * 2
    patch.status["observedGeneration"] = generation
    patch.status["conditions"] = [
        {
            "type": "Ready",
            "status": "True",
            "reason": "Reconciled",
            "message": "",
            "lastTransitionTime": now,
            "observedGeneration": generation,
        }
    ]


async def apply_config_map(spec, meta, body, core):
    owned = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": meta["name"]}, "data": {"size": str(spec["size"])}}
    kopf.adopt(owned, owner=body)
    try:
        await core.create_namespaced_config_map(meta["namespace"], owned)
    except kubernetes_asyncio.client.ApiException as error:
        if error.status != 409:
            raise
        await core.patch_namespaced_config_map(meta["name"], meta["namespace"], owned)
