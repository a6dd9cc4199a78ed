/** Cells of volumes, claims and storage classes. */
import type { StoredObject } from "../../objects/objects.ts";
import { at, type Cells, fields, list, orElse, strings } from "./_fields.ts";
import { withDefault } from "./network.ts";

const MODES: Readonly<Record<string, string>> = {
  ReadWriteOnce: "RWO",
  ReadOnlyMany: "ROX",
  ReadWriteMany: "RWX",
  ReadWriteOncePod: "RWOP",
};

export const storageCells: Readonly<Record<string, Cells>> = {
  "/persistentvolumes": {
    Capacity: (it) => at("spec", "capacity", "storage")(it) ?? "0",
    "Access Modes": ({ spec }) => accessModes(spec),
    "Reclaim Policy": (it) => at("spec", "persistentVolumeReclaimPolicy")(it) ?? "",
    Status: phase,
    Claim: ({ spec }) => {
      const { claimRef } = fields(spec);
      if (claimRef === undefined) return "";
      const { namespace = "", name = "" } = fields(claimRef);
      return `${namespace}/${name}`;
    },
    StorageClass: storageClass,
    VolumeAttributesClass: orElse("<unset>", "spec", "volumeAttributesClassName"),
    Reason: (it) => at("status", "reason")(it) ?? "",
    VolumeMode: orElse("<unset>", "spec", "volumeMode"),
  },
  "/persistentvolumeclaims": {
    Status: phase,
    Volume: (it) => at("spec", "volumeName")(it) ?? "",
    Capacity: (it) => isBound(it) ? at("status", "capacity", "storage")(it) ?? "0" : "",
    "Access Modes": (it) => isBound(it) ? accessModes(it.status) : "",
    StorageClass: storageClass,
    VolumeAttributesClass: orElse("<unset>", "spec", "volumeAttributesClassName"),
    VolumeMode: orElse("<unset>", "spec", "volumeMode"),
  },
  "storage.k8s.io/storageclasses": {
    Name: ({ metadata }) =>
      withDefault(
        metadata,
        "storageclass.kubernetes.io/is-default-class",
        "storageclass.beta.kubernetes.io/is-default-class",
      ),
    Provisioner: ({ provisioner }) => provisioner,
    ReclaimPolicy: ({ reclaimPolicy }) => reclaimPolicy ?? "Delete",
    VolumeBindingMode: ({ volumeBindingMode }) => volumeBindingMode ?? "Immediate",
    AllowVolumeExpansion: ({ allowVolumeExpansion }) => allowVolumeExpansion ?? false,
  },
  "storage.k8s.io/volumeattributesclasses": { DriverName: ({ driverName }) => driverName },
  "storage.k8s.io/volumeattachments": {
    Attacher: at("spec", "attacher"),
    PV: (it) => at("spec", "source", "persistentVolumeName")(it) ?? "",
    Node: at("spec", "nodeName"),
    Attached: (it) => at("status", "attached")(it) ?? false,
  },
  "storage.k8s.io/csinodes": { Drivers: ({ spec }) => list(spec, "drivers").length },
  "storage.k8s.io/csidrivers": {
    AttachRequired: (it) => at("spec", "attachRequired")(it) ?? true,
    PodInfoOnMount: (it) => at("spec", "podInfoOnMount")(it) ?? false,
    StorageCapacity: (it) => at("spec", "storageCapacity")(it) ?? false,
    TokenRequests: ({ spec }) =>
      fields(spec).tokenRequests === undefined
        ? "<unset>"
        : list(spec, "tokenRequests").map(({ audience }) => audience).join(","),
    RequiresRepublish: (it) => at("spec", "requiresRepublish")(it) ?? false,
    Modes: ({ spec }) => strings(spec, "volumeLifecycleModes").join(",") || "<none>",
  },
};

function phase({ metadata, status }: StoredObject): unknown {
  return metadata.deletionTimestamp === undefined ? fields(status).phase ?? "" : "Terminating";
}

function storageClass({ metadata, spec }: StoredObject): unknown {
  return metadata.annotations?.["volume.beta.kubernetes.io/storage-class"] ?? fields(spec).storageClassName ?? "";
}

function isBound(claim: StoredObject): boolean {
  return Boolean(at("spec", "volumeName")(claim));
}

function accessModes(holder: unknown): string {
  const given = new Set(strings(holder, "accessModes"));
  return Object.entries(MODES).filter(([mode]) => given.has(mode)).map(([, short]) => short).join(",");
}
