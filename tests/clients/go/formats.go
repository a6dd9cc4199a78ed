package main

import (
	"context"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	policyv1 "k8s.io/api/policy/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/client-go/kubernetes"
)

// formats writes and reads objects of many kinds in protobuf, and reads the same in JSON: what both say is the same.
func formats(ctx context.Context, s *server) {
	deployment := &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Name: "web", Annotations: map[string]string{"text": "größer, 日本 \u0001"}},
		Spec: appsv1.DeploymentSpec{
			Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": "web"}},
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{"app": "web"}},
				Spec: corev1.PodSpec{Containers: []corev1.Container{{
					Name: "web", Image: "nginx",
					Ports:         []corev1.ContainerPort{{Name: "http", ContainerPort: 80}},
					LivenessProbe: &corev1.Probe{ProbeHandler: corev1.ProbeHandler{HTTPGet: &corev1.HTTPGetAction{Port: intstr.FromString("http")}}},
					Resources: corev1.ResourceRequirements{Limits: corev1.ResourceList{
						corev1.ResourceCPU: resource.MustParse("1500m"), corev1.ResourceMemory: resource.MustParse("0.5Gi"),
					}},
					Env: []corev1.EnvVar{{Name: "NODE", ValueFrom: &corev1.EnvVarSource{FieldRef: &corev1.ObjectFieldSelector{FieldPath: "spec.nodeName"}}}},
				}}},
			},
		},
	}
	for name, clients := range map[string]*kubernetes.Clientset{"protobuf": s.proto} {
		live, err := clients.AppsV1().Deployments(s.namespace).Create(ctx, deployment, metav1.CreateOptions{})
		s.show("created in "+name, live, err)
	}
	read, err := s.typed.AppsV1().Deployments(s.namespace).Get(ctx, "web", metav1.GetOptions{})
	s.show("read in JSON", read, err)
	same, err := s.proto.AppsV1().Deployments(s.namespace).Get(ctx, "web", metav1.GetOptions{})
	must(err)
	s.say("the same in both: %t", plain(same) == plain(read))
	s.say("owners: %s", owners(same))
	same.Spec.Replicas = new(int32)
	same, err = s.proto.AppsV1().Deployments(s.namespace).Update(ctx, same, metav1.UpdateOptions{})
	s.show("updated", same, err)
	same.Status.Replicas = 2
	same, err = s.proto.AppsV1().Deployments(s.namespace).UpdateStatus(ctx, same, metav1.UpdateOptions{})
	s.show("its status", same, err)
	same, err = s.proto.AppsV1().Deployments(s.namespace).Patch(ctx, "web", types.StrategicMergePatchType,
		[]byte(`{"spec":{"template":{"spec":{"containers":[{"name":"side","image":"proxy"}]}}}}`), metav1.PatchOptions{})
	s.show("patched", same, err)
	list, err := s.proto.AppsV1().Deployments(s.namespace).List(ctx, metav1.ListOptions{})
	s.show("listed", list, err)

	others(ctx, s)
	moving(ctx, s)

	_, err = s.proto.AppsV1().Deployments(s.namespace).Create(ctx, &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Name: "Not A Name"}}, metav1.CreateOptions{})
	s.refused("invalid in protobuf", err)
	_, err = s.proto.CoreV1().Pods(s.namespace).Get(ctx, "missing", metav1.GetOptions{})
	s.refused("missing in protobuf", err)
	err = s.proto.AppsV1().Deployments(s.namespace).Delete(ctx, "web", metav1.DeleteOptions{Preconditions: metav1.NewUIDPreconditions("another")})
	s.refused("deleted in protobuf, of another uid", err)
	err = s.proto.AppsV1().Deployments(s.namespace).Delete(ctx, "web", metav1.DeleteOptions{})
	s.refused("deleted in protobuf", err)
}

// others are kinds with what is coded in ways of its own: times of two precisions, bytes, numbers or texts, quantities, raw JSON.
func others(ctx context.Context, s *server) {
	secret, err := s.proto.CoreV1().Secrets(s.namespace).Create(ctx, &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Name: "secret"}, Data: map[string][]byte{"raw": {0, 255, 10}}, StringData: map[string]string{"text": "words"},
	}, metav1.CreateOptions{})
	s.show("Secret", secret, err)
	at := metav1.NewMicroTime(time.Date(2030, 1, 2, 3, 4, 5, 678901000, time.UTC))
	holder := "somebody"
	lease, err := s.proto.CoordinationV1().Leases(s.namespace).Create(ctx, &coordinationv1.Lease{
		ObjectMeta: metav1.ObjectMeta{Name: "lease"}, Spec: coordinationv1.LeaseSpec{HolderIdentity: &holder, RenewTime: &at},
	}, metav1.CreateOptions{})
	s.show("Lease", lease, err)
	service, err := s.proto.CoreV1().Services(s.namespace).Create(ctx, &corev1.Service{
		ObjectMeta: metav1.ObjectMeta{Name: "service"},
		Spec: corev1.ServiceSpec{ClusterIP: "None", Selector: map[string]string{"app": "web"}, Ports: []corev1.ServicePort{
			{Name: "a", Port: 80, TargetPort: intstr.FromInt32(8080)}, {Name: "b", Port: 81, TargetPort: intstr.FromString("named")},
		}},
	}, metav1.CreateOptions{})
	s.show("Service", service, err)
	half := intstr.FromString("50%")
	budget, err := s.proto.PolicyV1().PodDisruptionBudgets(s.namespace).Create(ctx, &policyv1.PodDisruptionBudget{
		ObjectMeta: metav1.ObjectMeta{Name: "budget"},
		Spec:       policyv1.PodDisruptionBudgetSpec{MinAvailable: &half, Selector: &metav1.LabelSelector{}},
	}, metav1.CreateOptions{})
	s.show("PodDisruptionBudget", budget, err)
	job, err := s.proto.BatchV1().CronJobs(s.namespace).Create(ctx, &batchv1.CronJob{
		ObjectMeta: metav1.ObjectMeta{Name: "job"},
		Spec: batchv1.CronJobSpec{Schedule: "*/5 * * * *", JobTemplate: batchv1.JobTemplateSpec{Spec: batchv1.JobSpec{
			Template: corev1.PodTemplateSpec{Spec: corev1.PodSpec{
				RestartPolicy: corev1.RestartPolicyNever, Containers: []corev1.Container{{Name: "job", Image: "busybox"}},
			}},
		}}},
	}, metav1.CreateOptions{})
	s.show("CronJob", job, err)
	kind := networkingv1.PathTypePrefix
	ingress, err := s.proto.NetworkingV1().Ingresses(s.namespace).Create(ctx, &networkingv1.Ingress{
		ObjectMeta: metav1.ObjectMeta{Name: "ingress"},
		Spec: networkingv1.IngressSpec{Rules: []networkingv1.IngressRule{{Host: "shop.example.com", IngressRuleValue: networkingv1.IngressRuleValue{
			HTTP: &networkingv1.HTTPIngressRuleValue{Paths: []networkingv1.HTTPIngressPath{{Path: "/", PathType: &kind, Backend: networkingv1.IngressBackend{
				Service: &networkingv1.IngressServiceBackend{Name: "service", Port: networkingv1.ServiceBackendPort{Number: 80}},
			}}}},
		}}}},
	}, metav1.CreateOptions{})
	s.show("Ingress", ingress, err)
	role, err := s.proto.RbacV1().Roles(s.namespace).Create(ctx, &rbacv1.Role{
		ObjectMeta: metav1.ObjectMeta{Name: "role"}, Rules: []rbacv1.PolicyRule{{Verbs: []string{"get"}, APIGroups: []string{""}, Resources: []string{"pods"}}},
	}, metav1.CreateOptions{})
	s.show("Role", role, err)
	claim, err := s.proto.CoreV1().PersistentVolumeClaims(s.namespace).Create(ctx, &corev1.PersistentVolumeClaim{
		ObjectMeta: metav1.ObjectMeta{Name: "claim"},
		Spec: corev1.PersistentVolumeClaimSpec{AccessModes: []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce}, Resources: corev1.VolumeResourceRequirements{
			Requests: corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("10Gi")},
		}},
	}, metav1.CreateOptions{})
	s.show("PersistentVolumeClaim", claim, err)
	set, err := s.proto.AppsV1().StatefulSets(s.namespace).Create(ctx, &appsv1.StatefulSet{
		ObjectMeta: metav1.ObjectMeta{Name: "set"},
		Spec: appsv1.StatefulSetSpec{
			ServiceName: "service", Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"a": "b"}},
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{"a": "b"}},
				Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "db", Image: "postgres"}}},
			},
		},
	}, metav1.CreateOptions{})
	s.show("StatefulSet", set, err)
}

// moving watches in protobuf.
func moving(ctx context.Context, s *server) {
	ctx, stop := context.WithTimeout(ctx, patience)
	defer stop()
	watch, err := s.proto.CoreV1().ConfigMaps(s.namespace).Watch(ctx, metav1.ListOptions{})
	must(err)
	defer watch.Stop()
	maps := s.proto.CoreV1().ConfigMaps(s.namespace)
	_, err = maps.Create(ctx, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "moving"}, BinaryData: map[string][]byte{"b": {1, 2}}}, metav1.CreateOptions{})
	must(err)
	_, err = maps.Patch(ctx, "moving", types.MergePatchType, []byte(`{"data":{"a":"b"}}`), metav1.PatchOptions{})
	must(err)
	must(maps.Delete(ctx, "moving", metav1.DeleteOptions{}))
	for range 3 {
		event := <-watch.ResultChan()
		s.say("%s %s", event.Type, plain(event.Object))
	}
}
