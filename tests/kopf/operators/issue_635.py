"""Handlers of Deployments and of their ReplicaSets."""

import kopf


@kopf.on.create("deployments")
async def create_deployment(**_):
    pass


@kopf.on.create("replicasets")
async def create_replica_set(**_):
    pass


@kopf.on.update("replicasets")
async def update_replica_set(**_):
    pass
