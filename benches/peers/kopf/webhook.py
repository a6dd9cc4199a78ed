"""The webhook of the benchmark with kopf, on kopf's webhook server.

Environment: PORT, and FOLDER with tls.crt and tls.key.
"""

import os

import kopf

FOLDER = os.environ["FOLDER"]


@kopf.on.startup()
def configure(settings: kopf.OperatorSettings, **_):
    settings.posting.enabled = False
    settings.admission.server = kopf.WebhookServer(
        addr="127.0.0.1",
        port=int(os.environ["PORT"]),
        path="/validate",
        certfile=f"{FOLDER}/tls.crt",
        pkeyfile=f"{FOLDER}/tls.key",
    )


@kopf.on.validate("reviews.example.com", "v1", "notes", id="note-rules")
def validate(spec, **_):
    if spec.get("text") == "forbidden":
        raise kopf.AdmissionError("this text is forbidden")
