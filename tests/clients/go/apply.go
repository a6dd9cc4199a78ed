package main

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	appsv1ac "k8s.io/client-go/applyconfigurations/apps/v1"
	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"
	metav1ac "k8s.io/client-go/applyconfigurations/meta/v1"
)

// apply declares objects by server-side apply, as two managers that do not agree.
func apply(ctx context.Context, s *server) {
	maps := s.typed.CoreV1().ConfigMaps(s.namespace)
	declared := func() *corev1ac.ConfigMapApplyConfiguration { return corev1ac.ConfigMap("shared", s.namespace) }
	made, err := maps.Apply(ctx, declared().WithData(map[string]string{"a": "1", "b": "1"}), metav1.ApplyOptions{FieldManager: "first"})
	s.show("made", made, err)
	same, err := maps.Apply(ctx, declared().WithData(map[string]string{"a": "1", "b": "1"}), metav1.ApplyOptions{FieldManager: "first"})
	s.show("the same again", same, err)
	s.say("nothing changed: %t", same.ResourceVersion == made.ResourceVersion)

	other := declared().WithLabels(map[string]string{"of": "second"}).WithData(map[string]string{"b": "2", "c": "2"})
	_, err = maps.Apply(ctx, other, metav1.ApplyOptions{FieldManager: "second"})
	s.refused("a conflict", err)
	live, err := maps.Apply(ctx, other, metav1.ApplyOptions{FieldManager: "second", Force: true})
	s.show("forced", live, err)
	s.say("owners: %s", owners(live))
	live, err = maps.Apply(ctx, declared().WithData(map[string]string{"a": "1"}), metav1.ApplyOptions{FieldManager: "first"})
	s.show("left out", live, err)
	live, err = maps.Patch(ctx, "shared", types.MergePatchType, []byte(`{"data":{"a":"patched"}}`), metav1.PatchOptions{FieldManager: "third"})
	s.show("patched by a third", live, err)
	_, err = maps.Apply(ctx, declared().WithData(map[string]string{"a": "1"}), metav1.ApplyOptions{FieldManager: "first"})
	s.refused("a conflict with who patched", err)
	s.say("owners: %s", owners(live))
	extracted, err := corev1ac.ExtractConfigMap(live, "second")
	must(err)
	s.say("what the second declared: %v %v", extracted.Labels, extracted.Data)

	deployments(ctx, s)
	custom(ctx, s)
}

func deployments(ctx context.Context, s *server) {
	client := s.typed.AppsV1().Deployments(s.namespace)
	container := func(name, image string) *corev1ac.ContainerApplyConfiguration {
		return corev1ac.Container().WithName(name).WithImage(image)
	}
	declared := func(containers ...*corev1ac.ContainerApplyConfiguration) *appsv1ac.DeploymentApplyConfiguration {
		labels := map[string]string{"app": "web"}
		return appsv1ac.Deployment("web", s.namespace).WithSpec(appsv1ac.DeploymentSpec().
			WithSelector(metav1ac.LabelSelector().WithMatchLabels(labels)).
			WithTemplate(corev1ac.PodTemplateSpec().WithLabels(labels).WithSpec(corev1ac.PodSpec().WithContainers(containers...))))
	}
	ports := container("web", "nginx").WithPorts(
		corev1ac.ContainerPort().WithContainerPort(80),
		corev1ac.ContainerPort().WithContainerPort(53).WithProtocol(corev1.ProtocolUDP),
	)
	live, err := client.Apply(ctx, declared(ports), metav1.ApplyOptions{FieldManager: "owner"})
	s.show("Deployment", live, err)
	live, err = client.Apply(ctx, declared(container("sidecar", "proxy")), metav1.ApplyOptions{FieldManager: "injector"})
	s.show("with a sidecar of another", live, err)
	s.say("owners: %s", owners(live))
	_, err = client.Apply(ctx, declared(container("web", "httpd")), metav1.ApplyOptions{FieldManager: "injector"})
	s.refused("of another's container", err)
	status := appsv1ac.Deployment("web", s.namespace).WithStatus(appsv1ac.DeploymentStatus().WithReplicas(1).WithReadyReplicas(1))
	live, err = client.ApplyStatus(ctx, status, metav1.ApplyOptions{FieldManager: "reporter"})
	s.show("its status", live, err)
	scale, err := client.GetScale(ctx, "web", metav1.GetOptions{})
	must(err)
	scale.Spec.Replicas = 3
	_, err = client.UpdateScale(ctx, "web", scale, metav1.UpdateOptions{FieldManager: "scaler"})
	must(err)
	live, err = client.Get(ctx, "web", metav1.GetOptions{})
	must(err)
	s.say("owners: %s", owners(live))
	live, err = client.Apply(ctx, declared(container("web", "nginx")), metav1.ApplyOptions{FieldManager: "owner"})
	s.show("without ports", live, err)
	_, err = client.Apply(ctx, declared(container("", "nginx")), metav1.ApplyOptions{FieldManager: "owner"})
	s.refused("without its key", err)
	_, err = client.Apply(ctx, declared(container("web", "nginx")), metav1.ApplyOptions{})
	s.refused("by nobody", err)
}

func custom(ctx context.Context, s *server) {
	define(ctx, s)
	client := s.dynamic.Resource(widgets).Namespace(s.namespace)
	declared := func(manager, spec string, force bool) {
		object := unstructuredObject(`{"apiVersion":"clients.example.com/v1","kind":"Widget","metadata":{"name":"one"},"spec":` + spec + `}`)
		live, err := client.Apply(ctx, "one", object, metav1.ApplyOptions{FieldManager: manager, Force: force})
		s.show("Widget by "+manager, live, err)
		if err == nil {
			s.say("owners: %s", owners(live))
		}
	}
	declared("a", `{"size":1,"ports":[{"name":"http","port":80}]}`, false)
	declared("b", `{"size":1,"ports":[{"name":"https","port":443}]}`, false)
	declared("b", `{"size":2,"ports":[{"name":"http","port":8080}]}`, false)
	declared("b", `{"size":2,"ports":[{"name":"http","port":8080}]}`, true)
	declared("a", `{"size":2}`, false)
	declared("a", `{"size":"many"}`, false)
	status := unstructuredObject(`{"apiVersion":"clients.example.com/v1","kind":"Widget","metadata":{"name":"one"},"status":{"size":2}}`)
	live, err := client.ApplyStatus(ctx, "one", status, metav1.ApplyOptions{FieldManager: "status"})
	s.show("Widget's status", live, err)
	s.say("owners: %s", owners(live))
}
