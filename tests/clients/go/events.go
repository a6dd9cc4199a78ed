package main

import (
	"context"
	"sort"
	"time"

	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/kubernetes/scheme"
	corev1client "k8s.io/client-go/kubernetes/typed/core/v1"
	clientevents "k8s.io/client-go/tools/events"
	"k8s.io/client-go/tools/record"
)

// events tells what happened to an object, by both of client-go's recorders; what is told again is counted.
func events(ctx context.Context, s *server) {
	about, err := s.typed.CoreV1().ConfigMaps(s.namespace).Create(ctx, configMap("subject", nil), metav1.CreateOptions{})
	must(err)
	about.APIVersion, about.Kind = "v1", "ConfigMap"

	old := record.NewBroadcaster()
	old.StartRecordingToSink(&corev1client.EventSinkImpl{Interface: s.typed.CoreV1().Events("")})
	recorder := old.NewRecorder(scheme.Scheme, corev1.EventSource{Component: "clients"})
	for range 3 {
		recorder.Event(about, corev1.EventTypeNormal, "Seen", "It was looked at")
	}
	recorder.Event(about, corev1.EventTypeWarning, "Missed", "It was not looked at")
	core := s.typed.CoreV1().Events(s.namespace)
	until(ctx, func() bool {
		list, err := core.List(ctx, metav1.ListOptions{})
		must(err)
		total := int32(0)
		for _, item := range list.Items {
			total += item.Count
		}
		return total == 4
	})
	old.Shutdown()
	list, err := core.List(ctx, metav1.ListOptions{FieldSelector: "involvedObject.name=subject,type=Normal"})
	must(err)
	for _, item := range list.Items {
		s.say("%s %s %q x%d from %s about %s/%s", item.Type, item.Reason, item.Message, item.Count, item.Source.Component, item.InvolvedObject.Kind, item.InvolvedObject.Name)
	}

	recent := clientevents.NewBroadcaster(&clientevents.EventSinkImpl{Interface: s.typed.EventsV1()})
	must(recent.StartRecordingToSinkWithContext(ctx))
	newer := recent.NewRecorder(scheme.Scheme, "clients.example.com/clients")
	newer.Eventf(about, nil, corev1.EventTypeNormal, "Begun", "Begin", "It begins with %d", 1)
	var found *eventsv1.EventList
	until(ctx, func() bool {
		found, err = s.proto.EventsV1().Events(s.namespace).List(ctx, metav1.ListOptions{})
		must(err)
		return len(found.Items) == 3
	})
	recent.Shutdown()
	sort.Slice(found.Items, func(i, j int) bool { return found.Items[i].Reason < found.Items[j].Reason })
	for _, item := range found.Items {
		s.say("%s %s %s %q by %s about %s/%s, x%d", item.Type, item.Reason, item.Action, item.Note, item.ReportingController, item.Regarding.Kind, item.Regarding.Name, item.DeprecatedCount)
	}
}

// until waits for what will come to be.
func until(ctx context.Context, isSo func() bool) {
	must(wait.PollUntilContextTimeout(ctx, 20*time.Millisecond, patience, true, func(context.Context) (bool, error) {
		return isSo(), nil
	}))
}
