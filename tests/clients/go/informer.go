package main

import (
	"context"
	"fmt"
	"sort"
	"strings"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/dynamic/dynamicinformer"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/metadata/metadatainformer"
	"k8s.io/client-go/tools/cache"
)

// A journal is what an informer told, in order.
type journal struct {
	sync.Mutex
	lines []string
}

func (j *journal) note(format string, values ...any) {
	j.Lock()
	defer j.Unlock()
	j.lines = append(j.lines, fmt.Sprintf(format, values...))
}

// take waits until so much was told, and answers it.
func (j *journal) take(ctx context.Context, count int) []string {
	var taken []string
	must(wait.PollUntilContextTimeout(ctx, 10*time.Millisecond, patience, true, func(context.Context) (bool, error) {
		j.Lock()
		defer j.Unlock()
		if len(j.lines) < count {
			return false, nil
		}
		taken, j.lines = j.lines[:count], j.lines[count:]
		return true, nil
	}))
	return taken
}

func (j *journal) handler() cache.ResourceEventHandler {
	name := func(object any) string {
		if tombstone, isOne := object.(cache.DeletedFinalStateUnknown); isOne {
			return "missed " + tombstone.Key
		}
		return object.(metav1.Object).GetName()
	}
	return cache.ResourceEventHandlerDetailedFuncs{
		AddFunc: func(object any, isInitial bool) {
			j.note("added %s %s initially=%t", name(object), labelsOf(object), isInitial)
		},
		UpdateFunc: func(old, next any) {
			before, after := old.(metav1.Object), next.(metav1.Object)
			if before.GetResourceVersion() != after.GetResourceVersion() {
				j.note("updated %s from %s to %s, newer=%t", name(next), labelsOf(old), labelsOf(next), isNewer(before, after))
			}
		},
		DeleteFunc: func(object any) { j.note("deleted %s", name(object)) },
	}
}

func labelsOf(object any) string {
	return fmt.Sprint(labels.Set(object.(metav1.Object).GetLabels()))
}

func isNewer(before, after metav1.Object) bool {
	a, b := before.GetResourceVersion(), after.GetResourceVersion()
	return len(a) < len(b) || (len(a) == len(b) && a < b)
}

func configMap(name string, labels map[string]string) *corev1.ConfigMap {
	return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: labels}, Data: map[string]string{"a": "1"}}
}

// typedInformer watches ConfigMaps by a shared informer of two listeners, an index, and one that chooses by label.
func typedInformer(ctx context.Context, s *server) {
	maps := s.typed.CoreV1().ConfigMaps(s.namespace)
	for _, name := range []string{"c", "a", "b"} {
		_, err := maps.Create(ctx, configMap(name, map[string]string{"of": "before"}), metav1.CreateOptions{})
		must(err)
	}
	factory := informers.NewSharedInformerFactoryWithOptions(s.typed, 0, informers.WithNamespace(s.namespace))
	informer := factory.Core().V1().ConfigMaps()
	must(informer.Informer().AddIndexers(cache.Indexers{"label": func(object any) ([]string, error) {
		return []string{labelsOf(object)}, nil
	}}))
	chosen := informers.NewSharedInformerFactoryWithOptions(s.typed, 0, informers.WithNamespace(s.namespace),
		informers.WithTweakListOptions(func(options *metav1.ListOptions) { options.LabelSelector = "of=choice" }))
	all, some := &journal{}, &journal{}
	_, err := informer.Informer().AddEventHandler(all.handler())
	must(err)
	_, err = chosen.Core().V1().ConfigMaps().Informer().AddEventHandler(some.handler())
	must(err)
	for _, each := range []informers.SharedInformerFactory{factory, chosen} {
		each.Start(ctx.Done())
		for kind, ok := range each.WaitForCacheSync(ctx.Done()) {
			s.say("%v in sync: %t", kind, ok)
		}
	}
	initial := all.take(ctx, 3)
	sort.Strings(initial)
	s.say("at first: %s", strings.Join(initial, ", "))

	_, err = maps.Create(ctx, configMap("d", nil), metav1.CreateOptions{})
	must(err)
	for _, patch := range []string{`{"metadata":{"labels":{"of":"choice"}}}`, `{"data":{"a":"2"}}`, `{"data":{"a":"2"}}`, `{"metadata":{"labels":null}}`} {
		_, err = maps.Patch(ctx, "a", types.MergePatchType, []byte(patch), metav1.PatchOptions{})
		must(err)
	}
	must(maps.Delete(ctx, "b", metav1.DeleteOptions{}))
	s.say("then: %s", strings.Join(all.take(ctx, 5), ", "))
	s.say("chosen: %s", strings.Join(some.take(ctx, 3), ", "))

	late := &journal{}
	_, err = informer.Informer().AddEventHandler(late.handler())
	must(err)
	lines := late.take(ctx, 3)
	sort.Strings(lines)
	s.say("a late listener: %s", strings.Join(lines, ", "))
	listed, err := informer.Lister().ConfigMaps(s.namespace).List(labels.SelectorFromSet(labels.Set{"of": "before"}))
	must(err)
	for _, each := range listed {
		s.say("lister: %s", plain(each))
	}
	keys, err := informer.Informer().GetIndexer().IndexKeys("label", "of=before")
	must(err)
	s.say("index: %v", keys)
	_, err = informer.Lister().ConfigMaps(s.namespace).Get("b")
	s.refused("lister, of one that is gone", err)
}

var widgets = schema.GroupVersionResource{Group: "clients.example.com", Version: "v1", Resource: "widgets"}

const widgetDefinition = `{
	"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
	"metadata": {"name": "widgets.clients.example.com"},
	"spec": {
		"group": "clients.example.com", "scope": "Namespaced", "names": {"kind": "Widget", "plural": "widgets"},
		"versions": [{
			"name": "v1", "served": true, "storage": true,
			"subresources": {"status": {}, "scale": {"specReplicasPath": ".spec.size", "statusReplicasPath": ".status.size"}},
			"schema": {"openAPIV3Schema": {"type": "object", "properties": {
				"spec": {"type": "object", "required": ["size"], "properties": {
					"size": {"type": "integer", "minimum": 0}, "colour": {"type": "string", "default": "red"},
					"ports": {"type": "array", "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["name"], "items": {
						"type": "object", "required": ["name"], "properties": {"name": {"type": "string"}, "port": {"type": "integer"}}}}}},
				"status": {"type": "object", "properties": {"size": {"type": "integer"}}}}}}
		}]
	}
}`

// define makes the kind that parts need which have custom objects, and waits until it is served.
func define(ctx context.Context, s *server) {
	definitions := s.dynamic.Resource(schema.GroupVersionResource{
		Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions",
	})
	_, err := definitions.Apply(ctx, "widgets.clients.example.com", unstructuredObject(widgetDefinition),
		metav1.ApplyOptions{FieldManager: "clients"})
	must(err)
	must(wait.PollUntilContextTimeout(ctx, 20*time.Millisecond, patience, true, func(ctx context.Context) (bool, error) {
		found, err := definitions.Get(ctx, "widgets.clients.example.com", metav1.GetOptions{})
		if err != nil {
			return false, err
		}
		conditions, _, _ := unstructured.NestedSlice(found.Object, "status", "conditions")
		for _, condition := range conditions {
			fields := condition.(map[string]any)
			if fields["type"] == "Established" && fields["status"] == "True" {
				_, err := s.dynamic.Resource(widgets).List(ctx, metav1.ListOptions{})
				return err == nil, nil
			}
		}
		return false, nil
	}))
}

func widget(name string, size int64) *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "clients.example.com/v1", "kind": "Widget",
		"metadata": map[string]any{"name": name},
		"spec":     map[string]any{"size": size},
	}}
}

// dynamicInformer watches custom objects of a kind that the program has no types for.
func dynamicInformer(ctx context.Context, s *server) {
	define(ctx, s)
	client := s.dynamic.Resource(widgets).Namespace(s.namespace)
	_, err := client.Create(ctx, widget("first", 1), metav1.CreateOptions{})
	must(err)
	factory := dynamicinformer.NewFilteredDynamicSharedInformerFactory(s.dynamic, 0, s.namespace, nil)
	informer := factory.ForResource(widgets)
	told := &journal{}
	_, err = informer.Informer().AddEventHandler(told.handler())
	must(err)
	factory.Start(ctx.Done())
	s.say("in sync: %v", factory.WaitForCacheSync(ctx.Done()))
	s.say("at first: %v", told.take(ctx, 1))

	live, err := client.Create(ctx, widget("second", 2), metav1.CreateOptions{})
	s.show("created", live, err)
	must(unstructured.SetNestedField(live.Object, int64(2), "status", "size"))
	live, err = client.UpdateStatus(ctx, live, metav1.UpdateOptions{})
	s.show("status", live, err)
	live, err = client.Patch(ctx, "second", types.JSONPatchType, []byte(`[{"op":"replace","path":"/spec/size","value":3}]`), metav1.PatchOptions{})
	s.show("patched", live, err)
	_, err = client.Create(ctx, widget("wrong", -1), metav1.CreateOptions{})
	s.refused("wrong", err)
	must(client.Delete(ctx, "first", metav1.DeleteOptions{}))
	s.say("then: %v", told.take(ctx, 4))
	object, err := informer.Lister().ByNamespace(s.namespace).Get("second")
	s.show("lister", object, err)
}

// metadataInformer watches no more of objects than their metadata.
func metadataInformer(ctx context.Context, s *server) {
	secrets := schema.GroupVersionResource{Version: "v1", Resource: "secrets"}
	client := metadata.NewForConfigOrDie(s.config)
	factory := metadatainformer.NewFilteredSharedInformerFactory(client, 0, s.namespace, nil)
	told := &journal{}
	_, err := factory.ForResource(secrets).Informer().AddEventHandler(told.handler())
	must(err)
	factory.Start(ctx.Done())
	s.say("in sync: %v", factory.WaitForCacheSync(ctx.Done()))
	_, err = s.typed.CoreV1().Secrets(s.namespace).Create(ctx, &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Name: "hidden", Annotations: map[string]string{"seen": "yes"}},
		StringData: map[string]string{"key": "not seen"},
	}, metav1.CreateOptions{})
	must(err)
	object, err := client.Resource(secrets).Namespace(s.namespace).Patch(ctx, "hidden", types.MergePatchType,
		[]byte(`{"metadata":{"labels":{"a":"b"}}}`), metav1.PatchOptions{})
	s.show("patched", object, err)
	s.say("then: %v", told.take(ctx, 2))
	list, err := client.Resource(secrets).Namespace(s.namespace).List(ctx, metav1.ListOptions{})
	s.show("listed", list, err)
	must(client.Resource(secrets).Namespace(s.namespace).Delete(ctx, "hidden", metav1.DeleteOptions{}))
	s.say("at last: %v", told.take(ctx, 1))
}
