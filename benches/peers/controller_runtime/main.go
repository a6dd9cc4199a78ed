// The operator of the benchmark with controller-runtime, written as its documentation advises:
// cached reads, one status update, and an owned ConfigMap through CreateOrUpdate.
//
// Environment: WORKLOAD is "status" or "configmap"; READ_YOUR_WRITES=1 enables the opt-in consistent
// cache.
package main

import (
	"context"
	"os"
	"strconv"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	"sigs.k8s.io/controller-runtime/pkg/log/zap"
	"sigs.k8s.io/controller-runtime/pkg/metrics/server"
)

var version = schema.GroupVersion{Group: "bench.example.com", Version: "v1"}

type spec struct {
	Size int64 `json:"size"`
}

type status struct {
	Double             int64              `json:"double,omitempty"`
	ObservedGeneration int64              `json:"observedGeneration,omitempty"`
	Conditions         []metav1.Condition `json:"conditions,omitempty"`
}

// Item is the custom resource of the backlog.
type Item struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`
	Spec              spec   `json:"spec,omitempty"`
	Status            status `json:"status,omitempty"`
}

// DeepCopyObject implements runtime.Object.
func (i *Item) DeepCopyObject() runtime.Object {
	copied := &Item{TypeMeta: i.TypeMeta, Spec: i.Spec, Status: i.Status}
	i.ObjectMeta.DeepCopyInto(&copied.ObjectMeta)
	copied.Status.Conditions = append([]metav1.Condition(nil), i.Status.Conditions...)
	return copied
}

// ItemList is a list of Items.
type ItemList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []Item `json:"items"`
}

// DeepCopyObject implements runtime.Object.
func (l *ItemList) DeepCopyObject() runtime.Object {
	copied := &ItemList{TypeMeta: l.TypeMeta}
	l.ListMeta.DeepCopyInto(&copied.ListMeta)
	for i := range l.Items {
		copied.Items = append(copied.Items, *l.Items[i].DeepCopyObject().(*Item))
	}
	return copied
}

type reconciler struct {
	client.Client
	withConfigMap bool
}

func (r *reconciler) Reconcile(ctx context.Context, request ctrl.Request) (ctrl.Result, error) {
	item := &Item{}
	if err := r.Get(ctx, request.NamespacedName, item); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	if r.withConfigMap {
		owned := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: item.Name, Namespace: item.Namespace}}
		_, err := controllerutil.CreateOrUpdate(ctx, r.Client, owned, func() error {
			owned.Data = map[string]string{"size": strconv.FormatInt(item.Spec.Size, 10)}
			return controllerutil.SetControllerReference(item, owned, r.Scheme())
		})
		if err != nil {
			return ctrl.Result{}, err
		}
	}
	before := item.DeepCopyObject().(*Item).Status
	item.Status.Double = item.Spec.Size * 2
	item.Status.ObservedGeneration = item.Generation
	meta.SetStatusCondition(&item.Status.Conditions, metav1.Condition{
		Type: "Ready", Status: metav1.ConditionTrue, Reason: "Reconciled", ObservedGeneration: item.Generation,
	})
	if equality.Semantic.DeepEqual(before, item.Status) {
		return ctrl.Result{}, nil
	}
	return ctrl.Result{}, r.Status().Update(ctx, item)
}

func main() {
	ctrl.SetLogger(zap.New())
	log := ctrl.Log.WithName("bench")
	fail := func(err error) {
		if err != nil {
			log.Error(err, "Cannot run")
			os.Exit(1)
		}
	}
	scheme := runtime.NewScheme()
	fail(corev1.AddToScheme(scheme))
	scheme.AddKnownTypes(version, &Item{}, &ItemList{})
	metav1.AddToGroupVersion(scheme, version)

	consistent := os.Getenv("READ_YOUR_WRITES") == "1"
	release := true
	manager, err := ctrl.NewManager(ctrl.GetConfigOrDie(), ctrl.Options{
		Scheme:                        scheme,
		Metrics:                       server.Options{BindAddress: "127.0.0.1:0"},
		HealthProbeBindAddress:        "127.0.0.1:0",
		LeaderElection:                true,
		LeaderElectionID:              "item-operator",
		LeaderElectionReleaseOnCancel: release,
		Client: client.Options{Cache: &client.CacheOptions{EnableReadYourWritesConsistency: &consistent}},
		GracefulShutdownTimeout: func() *time.Duration { limit := 25 * time.Second; return &limit }(),
	})
	fail(err)
	withConfigMap := os.Getenv("WORKLOAD") == "configmap"
	builder := ctrl.NewControllerManagedBy(manager).For(&Item{}).WithOptions(controller.Options{MaxConcurrentReconciles: 10})
	if withConfigMap {
		builder = builder.Owns(&corev1.ConfigMap{})
	}
	fail(builder.Complete(&reconciler{Client: manager.GetClient(), withConfigMap: withConfigMap}))
	fail(manager.Start(ctrl.SetupSignalHandler()))
}
