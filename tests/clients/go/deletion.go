package main

import (
	"context"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"
)

// deletion takes objects away: at once, with what they own, without it, and when a finalizer lets them go.
func deletion(ctx context.Context, s *server) {
	maps := s.typed.CoreV1().ConfigMaps(s.namespace)
	for _, policy := range []metav1.DeletionPropagation{metav1.DeletePropagationBackground, metav1.DeletePropagationForeground, metav1.DeletePropagationOrphan} {
		policy := policy
		owner, err := maps.Create(ctx, configMap("owner", nil), metav1.CreateOptions{})
		must(err)
		child := configMap("child", nil)
		block := true
		child.OwnerReferences = []metav1.OwnerReference{{APIVersion: "v1", Kind: "ConfigMap", Name: "owner", UID: owner.UID, BlockOwnerDeletion: &block}}
		_, err = maps.Create(ctx, child, metav1.CreateOptions{})
		must(err)
		must(maps.Delete(ctx, "owner", metav1.DeleteOptions{PropagationPolicy: &policy}))
		gone(ctx, s, "owner")
		if policy == metav1.DeletePropagationOrphan {
			live, err := maps.Get(ctx, "child", metav1.GetOptions{})
			s.show(string(policy), live, err)
			must(maps.Delete(ctx, "child", metav1.DeleteOptions{}))
			continue
		}
		gone(ctx, s, "child")
		s.say("%s: both are gone", policy)
	}

	held := configMap("held", nil)
	held.Finalizers = []string{"clients.example.com/held"}
	_, err := maps.Create(ctx, held, metav1.CreateOptions{})
	must(err)
	must(maps.Delete(ctx, "held", metav1.DeleteOptions{}))
	live, err := maps.Get(ctx, "held", metav1.GetOptions{})
	s.show("held", live, err)
	_, err = maps.Patch(ctx, "held", types.MergePatchType, []byte(`{"metadata":{"finalizers":["clients.example.com/more"]}}`), metav1.PatchOptions{})
	s.refused("another finalizer", err)
	live, err = maps.Patch(ctx, "held", types.JSONPatchType, []byte(`[{"op":"remove","path":"/metadata/finalizers"}]`), metav1.PatchOptions{})
	s.show("let go", live, err)
	_, err = maps.Get(ctx, "held", metav1.GetOptions{})
	s.refused("gone", err)

	for _, name := range []string{"a", "b", "c"} {
		_, err = maps.Create(ctx, configMap(name, map[string]string{"n": name}), metav1.CreateOptions{})
		must(err)
	}
	must(maps.DeleteCollection(ctx, metav1.DeleteOptions{}, metav1.ListOptions{LabelSelector: "n in (a, b)"}))
	left, err := maps.List(ctx, metav1.ListOptions{})
	s.show("left", left, err)

	must(s.typed.CoreV1().Namespaces().Delete(ctx, s.namespace, metav1.DeleteOptions{}))
	must(wait.PollUntilContextTimeout(ctx, 20*time.Millisecond, patience, true, func(ctx context.Context) (bool, error) {
		_, err := s.typed.CoreV1().Namespaces().Get(ctx, s.namespace, metav1.GetOptions{})
		return apierrors.IsNotFound(err), nil
	}))
	_, err = maps.Get(ctx, "c", metav1.GetOptions{})
	s.refused("gone with its namespace", err)
}

func gone(ctx context.Context, s *server, name string) {
	must(wait.PollUntilContextTimeout(ctx, 20*time.Millisecond, patience, true, func(ctx context.Context) (bool, error) {
		_, err := s.typed.CoreV1().ConfigMaps(s.namespace).Get(ctx, name, metav1.GetOptions{})
		return apierrors.IsNotFound(err), nil
	}))
}
