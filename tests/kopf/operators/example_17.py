"""Admission: warnings, denials with codes, a subresource, and a mutation."""

import os
import pathlib

import kopf

FILES = pathlib.Path(os.environ["FILES"])


@kopf.on.startup()
async def configure(settings, **_):
    settings.admission.server = kopf.WebhookServer(
        addr="127.0.0.1",
        host="127.0.0.1",
        certfile=FILES / "cert.pem",
        pkeyfile=FILES / "key.pem",
        cafile=FILES / "ca.pem",
    )
    settings.admission.managed = "auto.example.com"


@kopf.on.validate("kopfexamples")
async def warns(warnings, **_):
    warnings.append("this is a warning")


@kopf.on.validate("kopfexamples")
async def denies(spec, dryrun, **_):
    if not dryrun and spec.get("field") == "wrong":
        raise kopf.AdmissionError("The field is wrong.")


@kopf.on.validate("kopfexamples", field="spec.field", value="not-allowed")
async def denies_with_code(**_):
    raise kopf.AdmissionError("The value is not allowed.", code=418)


@kopf.on.validate("kopfexamples", subresource="status")
async def validates_status(spec, status, **_):
    if status.get("field") != spec.get("field"):
        raise kopf.AdmissionError("The status must equal the spec.")


@kopf.on.mutate("kopfexamples", labels={"somelabel": "somevalue"})
async def mutates(patch, **_):
    patch.spec["injected"] = 123
