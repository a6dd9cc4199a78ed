package main

import (
	"context"
	"strings"

	authorizationv1 "k8s.io/api/authorization/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// subresources are what objects have beside themselves.
func subresources(ctx context.Context, s *server) {
	pods := s.typed.CoreV1().Pods(s.namespace)
	_, err := s.typed.CoreV1().ServiceAccounts(s.namespace).Create(ctx, &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Name: "runner"}}, metav1.CreateOptions{})
	must(err)
	automount := false
	pod, err := pods.Create(ctx, &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: "pod", Labels: map[string]string{"app": "a"}},
		Spec: corev1.PodSpec{
			ServiceAccountName: "runner", AutomountServiceAccountToken: &automount,
			Containers: []corev1.Container{{Name: "main", Image: "busybox"}},
		},
	}, metav1.CreateOptions{})
	s.show("pod", pod, err)
	pod.Status.Phase = corev1.PodRunning
	pod.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}}
	pod, err = pods.UpdateStatus(ctx, pod, metav1.UpdateOptions{})
	s.show("its status", pod, err)
	pod.Spec.Containers[0].Image = "other"
	pod.Status.Phase = corev1.PodFailed
	pod, err = pods.Update(ctx, pod, metav1.UpdateOptions{})
	s.show("its spec", pod, err)
	_, err = pods.Patch(ctx, "pod", types.StrategicMergePatchType, []byte(`{"spec":{"containers":[{"name":"main","ports":[{"containerPort":1}]}]}}`), metav1.PatchOptions{})
	// The difference of both comes after this, in the form of Go's types.
	message, _, _ := strings.Cut(err.Error(), "@@")
	s.say("what of a pod cannot change: %s %s", apierrors.ReasonForError(err), message)
	for _, verb := range []string{"get", "create"} {
		review, err := s.typed.AuthorizationV1().SelfSubjectAccessReviews().Create(ctx, &authorizationv1.SelfSubjectAccessReview{
			Spec: authorizationv1.SelfSubjectAccessReviewSpec{ResourceAttributes: &authorizationv1.ResourceAttributes{Verb: verb, Resource: "pods"}},
		}, metav1.CreateOptions{})
		s.show("may I "+verb, review, err)
		other, err := s.proto.AuthorizationV1().SubjectAccessReviews().Create(ctx, &authorizationv1.SubjectAccessReview{
			Spec: authorizationv1.SubjectAccessReviewSpec{User: "jane", ResourceAttributes: &authorizationv1.ResourceAttributes{Verb: verb, Resource: "pods"}},
		}, metav1.CreateOptions{})
		s.show("may Jane "+verb, other, err)
	}
	namespace, err := s.typed.CoreV1().Namespaces().Get(ctx, s.namespace, metav1.GetOptions{})
	must(err)
	namespace.Spec.Finalizers = append(namespace.Spec.Finalizers, "clients.example.com/held")
	namespace, err = s.typed.CoreV1().Namespaces().Finalize(ctx, namespace, metav1.UpdateOptions{})
	s.show("namespace", namespace, err)
	err = pods.Bind(ctx, &corev1.Binding{ObjectMeta: metav1.ObjectMeta{Name: "pod"}, Target: corev1.ObjectReference{Kind: "Node", Name: "nowhere"}}, metav1.CreateOptions{})
	s.refused("binding", err)
	_, err = pods.GetLogs("pod", &corev1.PodLogOptions{}).DoRaw(ctx)
	s.refused("log of a node that is not there", err)
	evict := func(name string) error {
		return s.proto.CoreV1().Pods(s.namespace).EvictV1(ctx, &policyv1.Eviction{
			ObjectMeta: metav1.ObjectMeta{Name: name}, DeleteOptions: &metav1.DeleteOptions{GracePeriodSeconds: new(int64)},
		})
	}
	s.refused("eviction", evict("pod"))
	s.refused("eviction of what is gone", evict("pod"))
}
