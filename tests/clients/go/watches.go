package main

import (
	"context"
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"
	watchtools "k8s.io/client-go/tools/watch"
)

// watches goes on with watches where they were broken off.
func watches(ctx context.Context, s *server) {
	maps := s.typed.CoreV1().ConfigMaps(s.namespace)
	first, err := maps.Create(ctx, configMap("first", nil), metav1.CreateOptions{})
	must(err)
	for _, name := range []string{"second", "third"} {
		_, err = maps.Create(ctx, configMap(name, map[string]string{"n": name}), metav1.CreateOptions{})
		must(err)
	}
	must(maps.Delete(ctx, "second", metav1.DeleteOptions{}))
	after, err := maps.Watch(ctx, metav1.ListOptions{ResourceVersion: first.ResourceVersion})
	must(err)
	last := take(s, "after the first", after, 3)
	after.Stop()

	client := &cache.ListWatch{
		ListWithContextFunc: func(ctx context.Context, options metav1.ListOptions) (runtime.Object, error) {
			return maps.List(ctx, options)
		},
		WatchFuncWithContext: func(ctx context.Context, options metav1.ListOptions) (watch.Interface, error) {
			return maps.Watch(ctx, options)
		},
	}
	_, err = maps.Patch(ctx, "third", types.MergePatchType, []byte(`{"data":{"while":"away"}}`), metav1.PatchOptions{})
	must(err)
	again, err := watchtools.NewRetryWatcherWithContext(ctx, last, client)
	must(err)
	_, err = maps.Create(ctx, configMap("fourth", nil), metav1.CreateOptions{})
	must(err)
	take(s, "resumed", again, 2)
	again.Stop()

	// A server that ends a watch in time is asked again from where it was.
	seconds := int64(3)
	short := &cache.ListWatch{WatchFuncWithContext: func(ctx context.Context, options metav1.ListOptions) (watch.Interface, error) {
		options.TimeoutSeconds = &seconds
		return maps.Watch(ctx, options)
	}}
	one, err := maps.Watch(ctx, metav1.ListOptions{ResourceVersion: last, TimeoutSeconds: &seconds})
	must(err)
	count := 0
	for range one.ResultChan() {
		count++
	}
	s.say("a watch of three seconds ended after %d events", count)
	event, err := watchtools.Until(ctx, last, short, func(event watch.Event) (bool, error) {
		return event.Type == watch.Added && event.Object.(*corev1.ConfigMap).Name == "fourth", nil
	})
	must(err)
	s.say("until: %s %s", event.Type, event.Object.(*corev1.ConfigMap).Name)

	streamed(ctx, s)
	_, err = maps.Watch(ctx, metav1.ListOptions{ResourceVersion: "none"})
	s.refused("no version", err)
	err = s.typed.CoreV1().RESTClient().Get().Namespace(s.namespace).Resource("configmaps").Name("first").
		Param("resourceVersion", "999999999").MaxRetries(0).Do(ctx).Error()
	s.say("from the future: %s, ask again in some seconds: %t", apierrors.ReasonForError(err), isLater(err))
}

func isLater(err error) bool {
	_, isSuggested := apierrors.SuggestsClientDelay(err)
	return isSuggested
}

// streamed lists by a watch: what is there, then a mark that it was all.
func streamed(ctx context.Context, s *server) {
	yes := true
	for _, selector := range []string{"", "n=third", "n=nobody"} {
		stream, err := s.proto.CoreV1().ConfigMaps(s.namespace).Watch(ctx, metav1.ListOptions{
			SendInitialEvents: &yes, AllowWatchBookmarks: true, ResourceVersionMatch: metav1.ResourceVersionMatchNotOlderThan, LabelSelector: selector,
		})
		must(err)
		var lines []string
		for event := range stream.ResultChan() {
			object := event.Object.(metav1.Object)
			lines = append(lines, fmt.Sprintf("%s %s %v", event.Type, object.GetName(), object.GetAnnotations()))
			if event.Type == watch.Bookmark && object.GetAnnotations()[metav1.InitialEventsAnnotationKey] == "true" {
				break
			}
		}
		stream.Stop()
		s.say("streamed %q: %s", selector, strings.Join(lines, ", "))
	}
	chosen, err := s.typed.CoreV1().ConfigMaps(s.namespace).Watch(ctx, metav1.ListOptions{FieldSelector: fields.OneTermEqualSelector("metadata.name", "first").String()})
	must(err)
	_, err = s.typed.CoreV1().ConfigMaps(s.namespace).Patch(ctx, "first", types.MergePatchType, []byte(`{"data":{"a":"2"}}`), metav1.PatchOptions{})
	must(err)
	take(s, "one by its name", chosen, 2)
	chosen.Stop()
}

// take prints events of a watch and answers the version of the last.
func take(s *server, what string, source watch.Interface, count int) string {
	var lines []string
	version := ""
	for event := range source.ResultChan() {
		if event.Type == watch.Bookmark {
			continue
		}
		object, isObject := event.Object.(metav1.Object)
		if !isObject {
			lines = append(lines, fmt.Sprint(event.Type))
			break
		}
		lines = append(lines, fmt.Sprintf("%s %s", event.Type, object.GetName()))
		version = object.GetResourceVersion()
		if len(lines) == count {
			break
		}
	}
	s.say("%s: %s", what, strings.Join(lines, ", "))
	return version
}
