//! The operator of the benchmark with kube-rs, written as its documentation advises: a Controller
//! over a reflector's store, server-side apply, ten concurrent reconciles.
//!
//! Environment: WORKLOAD is "status" or "configmap".
use std::{collections::BTreeMap, sync::Arc, time::Duration};

use futures::StreamExt;
use k8s_openapi::api::core::v1::ConfigMap;
use kube::{
    Client, CustomResource, Resource, ResourceExt,
    api::{Api, ObjectMeta, Patch, PatchParams},
    runtime::{
        controller::{Action, Config, Controller},
        watcher,
    },
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

const MANAGER: &str = "item-operator";

#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "bench.example.com", version = "v1", kind = "Item", namespaced, status = "ItemStatus")]
struct ItemSpec {
    size: i64,
}

#[derive(Clone, Debug, Default, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct ItemStatus {
    double: Option<i64>,
    observed_generation: Option<i64>,
    #[schemars(skip)]
    conditions: Option<Vec<serde_json::Value>>,
}

struct Shared {
    client: Client,
    with_config_map: bool,
}

async fn reconcile(item: Arc<Item>, shared: Arc<Shared>) -> Result<Action, kube::Error> {
    let namespace = item.namespace().unwrap_or_default();
    let name = item.name_any();
    if shared.with_config_map {
        let owned = ConfigMap {
            metadata: ObjectMeta {
                name: Some(name.clone()),
                owner_references: item.controller_owner_ref(&()).map(|owner| vec![owner]),
                ..ObjectMeta::default()
            },
            data: Some(BTreeMap::from([("size".to_owned(), item.spec.size.to_string())])),
            ..ConfigMap::default()
        };
        Api::<ConfigMap>::namespaced(shared.client.clone(), &namespace)
            .patch(&name, &PatchParams::apply(MANAGER).force(), &Patch::Apply(&owned))
            .await?;
    }
    let generation = item.metadata.generation;
    let observed = item.status.as_ref().and_then(|status| status.observed_generation);
    if observed != generation {
        let now = k8s_openapi::jiff::Timestamp::now().strftime("%Y-%m-%dT%H:%M:%SZ").to_string();
        let status = json!({ "status": {
            "double": item.spec.size * 2,
            "observedGeneration": generation,
            "conditions": [{
                "type": "Ready", "status": "True", "reason": "Reconciled", "message": "",
                "lastTransitionTime": now, "observedGeneration": generation,
            }],
        } });
        Api::<Item>::namespaced(shared.client.clone(), &namespace)
            .patch_status(&name, &PatchParams::default(), &Patch::Merge(&status))
            .await?;
    }
    Ok(Action::await_change())
}

fn retry(_: Arc<Item>, _: &kube::Error, _: Arc<Shared>) -> Action {
    Action::requeue(Duration::from_secs(1))
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    tracing_subscriber::fmt().json().with_writer(std::io::stderr).init();
    let client = Client::try_default().await?;
    let with_config_map = std::env::var("WORKLOAD").is_ok_and(|workload| workload == "configmap");
    let mut controller = Controller::new(Api::<Item>::all(client.clone()), watcher::Config::default());
    if with_config_map {
        controller = controller.owns(Api::<ConfigMap>::all(client.clone()), watcher::Config::default());
    }
    controller
        .with_config(Config::default().concurrency(10))
        .shutdown_on_signal()
        .run(reconcile, retry, Arc::new(Shared { client, with_config_map }))
        .for_each(|_| futures::future::ready(()))
        .await;
    Ok(())
}
