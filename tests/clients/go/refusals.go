package main

import (
	"context"
	"regexp"
	"strings"

	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
)

var number = regexp.MustCompile(`\d+`)

// refusedWithoutVersions prints an error whose message names versions.
func (s *server) refusedWithoutVersions(what string, err error) {
	s.say("%s: %s %s", what, apierrors.ReasonForError(err), number.ReplaceAllString(err.Error(), "<number>"))
}

// refusals are what a server says no to, as the errors that programs tell apart.
func refusals(ctx context.Context, s *server) {
	maps := s.typed.CoreV1().ConfigMaps(s.namespace)
	_, err := maps.Get(ctx, "missing", metav1.GetOptions{})
	s.refused("missing", err)
	_, err = maps.Create(ctx, configMap("twice", nil), metav1.CreateOptions{})
	must(err)
	_, err = maps.Create(ctx, configMap("twice", nil), metav1.CreateOptions{})
	s.refused("twice", err)
	_, err = maps.Create(ctx, configMap("Not A Name", map[string]string{"not a label": "!"}), metav1.CreateOptions{})
	s.refused("no name", err)
	_, err = s.typed.CoreV1().ConfigMaps("nowhere").Create(ctx, configMap("a", nil), metav1.CreateOptions{})
	s.refused("no namespace", err)
	_, err = s.typed.CoreV1().Pods(s.namespace).Create(ctx, &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "empty"}}, metav1.CreateOptions{})
	s.refused("no containers", err)
	_, err = maps.List(ctx, metav1.ListOptions{LabelSelector: "a in b"})
	s.refused("no selector", err)
	_, err = maps.List(ctx, metav1.ListOptions{FieldSelector: "data.a=b"})
	s.refused("no field", err)
	_, err = maps.Patch(ctx, "twice", types.ApplyPatchType, []byte("a: [b"), metav1.PatchOptions{FieldManager: "a"})
	s.say("no YAML: %s", apierrors.ReasonForError(err))
	_, err = maps.Create(ctx, configMap("strict", nil), metav1.CreateOptions{DryRun: []string{"Some"}})
	s.refused("no dry run", err)
	dry, err := maps.Create(ctx, configMap("dry", nil), metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
	s.show("dry run", dry, err)
	_, err = maps.Get(ctx, "dry", metav1.GetOptions{})
	s.refused("left nothing", err)
	generated, err := maps.Create(ctx, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{GenerateName: "generated-"}}, metav1.CreateOptions{})
	must(err)
	s.say("generated: %t", regexp.MustCompile(`^generated-[a-z0-9]{5}$`).MatchString(generated.Name))
	raw := s.typed.CoreV1().RESTClient().Post().Namespace(s.namespace).Resource("configmaps").Param("fieldValidation", "Strict").
		Body([]byte(`{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"strict"},"data":{"a":"b","a":"c"},"more":1}`)).Do(ctx)
	s.refused("unknown and double fields", raw.Error())

	users(ctx, s)
}

// users are others than the administrator, who may do little.
func users(ctx context.Context, s *server) {
	as := func(config rest.ImpersonationConfig) *kubernetes.Clientset {
		other := rest.CopyConfig(s.config)
		other.Impersonate = config
		return kubernetes.NewForConfigOrDie(other)
	}
	_, err := as(rest.ImpersonationConfig{UserName: "jane"}).CoreV1().Secrets(s.namespace).List(ctx, metav1.ListOptions{})
	s.refused("Jane's list", err)
	_, err = as(rest.ImpersonationConfig{UserName: "jane"}).CoreV1().Nodes().Watch(ctx, metav1.ListOptions{})
	s.refused("Jane's watch", err)
	who, err := as(rest.ImpersonationConfig{UserName: "jane", Groups: []string{"team"}}).AuthenticationV1().SelfSubjectReviews().
		Create(ctx, &authenticationv1.SelfSubjectReview{}, metav1.CreateOptions{})
	s.show("Jane", who, err)
	stranger := rest.CopyConfig(s.config)
	stranger.BearerToken = "of nobody"
	_, err = kubernetes.NewForConfigOrDie(stranger).CoreV1().Pods("").List(ctx, metav1.ListOptions{})
	s.refused("a stranger", err)

	account, err := s.typed.CoreV1().ServiceAccounts(s.namespace).Create(ctx, &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Name: "robot"}}, metav1.CreateOptions{})
	s.show("account", account, err)
	token, err := s.typed.CoreV1().ServiceAccounts(s.namespace).CreateToken(ctx, "robot", &authenticationv1.TokenRequest{}, metav1.CreateOptions{})
	must(err)
	s.say("a token of %d parts", strings.Count(token.Status.Token, ".")+1)
	robot := rest.CopyConfig(s.config)
	robot.BearerToken = token.Status.Token
	who, err = kubernetes.NewForConfigOrDie(robot).AuthenticationV1().SelfSubjectReviews().Create(ctx, &authenticationv1.SelfSubjectReview{}, metav1.CreateOptions{})
	must(err)
	s.say("the robot: %s %v", who.Status.UserInfo.Username, who.Status.UserInfo.Groups)
	_, err = kubernetes.NewForConfigOrDie(robot).CoreV1().ConfigMaps(s.namespace).List(ctx, metav1.ListOptions{})
	s.refused("the robot's list", err)
}
