package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"sort"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
)

var uid = regexp.MustCompile(`[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}`)

// say prints a line.
func (s *server) say(format string, values ...any) {
	fmt.Fprintln(s.out, uid.ReplaceAllString(fmt.Sprintf(format, values...), "<uid>"))
}

// show prints an object, or the error that came in its place.
func (s *server) show(what string, object runtime.Object, err error) {
	if err != nil {
		s.refused(what, err)
		return
	}
	s.say("%s: %s", what, plain(object))
}

// refused prints an error as a program sees it: its type, its code, its message and all its causes.
func (s *server) refused(what string, err error) {
	var status apierrors.APIStatus
	switch {
	case err == nil:
		s.say("%s: went well", what)
	case errors.As(err, &status):
		text, _ := json.Marshal(status.Status())
		s.say("%s: refused: %T %s", what, err, text)
	default:
		s.say("%s: failed: %v", what, err)
	}
}

// plain is an object as JSON, without what is the server's own.
func plain(object runtime.Object) string {
	fields, err := runtime.DefaultUnstructuredConverter.ToUnstructured(object.DeepCopyObject())
	must(err)
	for _, name := range []string{"items", "Items"} {
		list, _ := fields[name].([]any)
		for _, item := range list {
			strip(item.(map[string]any))
		}
	}
	strip(fields)
	text, err := json.Marshal(fields)
	must(err)
	return string(text)
}

func strip(fields map[string]any) {
	metadata, _ := fields["metadata"].(map[string]any)
	for _, name := range []string{"uid", "resourceVersion", "creationTimestamp", "deletionTimestamp", "managedFields", "continue"} {
		if _, isThere := metadata[name]; isThere {
			metadata[name] = "<" + name + ">"
		}
	}
	references, _ := metadata["ownerReferences"].([]any)
	for _, reference := range references {
		reference.(map[string]any)["uid"] = "<uid>"
	}
	if fields["kind"] == "Namespace" {
		delete(fields, "status")
	}
}

// owners says who owns which fields of an object.
func owners(object metav1.Object) string {
	var lines []string
	for _, entry := range object.GetManagedFields() {
		subresource := entry.Subresource
		if subresource != "" {
			subresource = "/" + subresource
		}
		lines = append(lines, fmt.Sprintf("%s %s%s %s", entry.Manager, entry.Operation, subresource, entry.FieldsV1.Raw))
	}
	sort.Strings(lines)
	return strings.Join(lines, "; ")
}

// unstructuredObject is an object from its JSON.
func unstructuredObject(text string) *unstructured.Unstructured {
	object := &unstructured.Unstructured{}
	must(json.Unmarshal([]byte(text), &object.Object))
	return object
}
