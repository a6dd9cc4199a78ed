package main

import (
	"context"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	metrics "sigs.k8s.io/controller-runtime/pkg/metrics/server"
)

// A copier keeps a Secret beside each ConfigMap that asks for one, and holds the ConfigMap until it has taken leave.
type copier struct{ client.Client }

const held = "clients.example.com/copier"

func (c copier) Reconcile(ctx context.Context, request ctrl.Request) (ctrl.Result, error) {
	source := &corev1.ConfigMap{}
	if err := c.Get(ctx, request.NamespacedName, source); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	if source.Labels["copy"] != "yes" {
		return ctrl.Result{}, nil
	}
	if !source.DeletionTimestamp.IsZero() {
		if controllerutil.RemoveFinalizer(source, held) {
			return ctrl.Result{}, c.Update(ctx, source)
		}
		return ctrl.Result{}, nil
	}
	if controllerutil.AddFinalizer(source, held) {
		return ctrl.Result{}, c.Update(ctx, source)
	}
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: source.Name, Namespace: source.Namespace}}
	_, err := controllerutil.CreateOrUpdate(ctx, c.Client, secret, func() error {
		secret.Data = map[string][]byte{}
		for key, value := range source.Data {
			secret.Data[key] = []byte(value)
		}
		return controllerutil.SetControllerReference(source, secret, c.Scheme())
	})
	return ctrl.Result{}, err
}

// manage runs a manager of controller-runtime, with its cache, election and client.
func manage(ctx context.Context, s *server) {
	manager, err := ctrl.NewManager(s.config, ctrl.Options{
		Cache:          cache.Options{DefaultNamespaces: map[string]cache.Config{s.namespace: {}}},
		Metrics:        metrics.Options{BindAddress: "0"},
		LeaderElection: true, LeaderElectionID: "copier", LeaderElectionNamespace: s.namespace, LeaderElectionReleaseOnCancel: true,
	})
	must(err)
	must(ctrl.NewControllerManagedBy(manager).For(&corev1.ConfigMap{}).Owns(&corev1.Secret{}).Complete(copier{manager.GetClient()}))
	running, stop := context.WithCancel(ctx)
	ended := make(chan error)
	go func() { ended <- manager.Start(running) }()

	direct, err := client.New(s.config, client.Options{})
	must(err)
	source := configMap("source", map[string]string{"copy": "yes"})
	source.Namespace = s.namespace
	must(direct.Create(ctx, source))
	secret := func(value string) *corev1.Secret {
		found := &corev1.Secret{}
		until(ctx, func() bool {
			err := direct.Get(ctx, types.NamespacedName{Namespace: s.namespace, Name: "source"}, found)
			return err == nil && string(found.Data["a"]) == value
		})
		return found
	}
	s.show("copied", secret("1"), nil)
	must(direct.Patch(ctx, source, client.RawPatch(types.MergePatchType, []byte(`{"data":{"a":"2"}}`))))
	s.show("copied again", secret("2"), nil)
	must(direct.Delete(ctx, secret("2")))
	s.show("mended", secret("2"), nil)
	live := &corev1.ConfigMap{}
	must(direct.Get(ctx, client.ObjectKeyFromObject(source), live))
	s.show("the source", live, nil)
	s.say("owners: %s", owners(live))
	must(direct.Delete(ctx, source))
	until(ctx, func() bool {
		return apierrors.IsNotFound(direct.Get(ctx, client.ObjectKeyFromObject(source), live)) &&
			apierrors.IsNotFound(direct.Get(ctx, client.ObjectKeyFromObject(source), &corev1.Secret{}))
	})
	stop()
	select {
	case err := <-ended:
		s.refused("stopped", err)
	case <-time.After(patience):
		s.say("it does not stop")
	}
}
