package main

import (
	"context"
	"strconv"
	"sync"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/retry"
)

// conflicts lets several change one object at once, each trying again when another was quicker.
func conflicts(ctx context.Context, s *server) {
	maps := s.typed.CoreV1().ConfigMaps(s.namespace)
	stale, err := maps.Create(ctx, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "counter"}, Data: map[string]string{"n": "0"}}, metav1.CreateOptions{})
	must(err)
	var group sync.WaitGroup
	for range 5 {
		group.Go(func() {
			for range 10 {
				must(retry.OnError(retry.DefaultBackoff, func(error) bool { return true }, func() error {
					return retry.RetryOnConflict(retry.DefaultBackoff, func() error {
						live, err := maps.Get(ctx, "counter", metav1.GetOptions{})
						if err != nil {
							return err
						}
						count, _ := strconv.Atoi(live.Data["n"])
						live.Data["n"] = strconv.Itoa(count + 1)
						_, err = maps.Update(ctx, live, metav1.UpdateOptions{})
						return err
					})
				}))
			}
		})
	}
	group.Wait()
	live, err := maps.Get(ctx, "counter", metav1.GetOptions{})
	s.show("counted", live, err)

	stale.Data["n"] = "-1"
	_, err = maps.Update(ctx, stale, metav1.UpdateOptions{})
	s.refused("stale", err)
	s.say("is a conflict: %t", apierrors.IsConflict(err))
	_, err = maps.Patch(ctx, "counter", types.MergePatchType, []byte(`{"metadata":{"resourceVersion":"1"},"data":{"n":"-1"}}`), metav1.PatchOptions{})
	s.refused("stale patch", err)
	_, err = maps.Patch(ctx, "counter", types.JSONPatchType, []byte(`[{"op":"test","path":"/data/n","value":"0"}]`), metav1.PatchOptions{})
	s.refused("a test that fails", err)
	old := "1"
	err = maps.Delete(ctx, "counter", metav1.DeleteOptions{Preconditions: &metav1.Preconditions{ResourceVersion: &old}})
	s.refusedWithoutVersions("stale deletion", err)
	live.ResourceVersion = ""
	live.Data["n"] = "0"
	live, err = maps.Update(ctx, live, metav1.UpdateOptions{})
	s.show("unconditional", live, err)
}
