// Command clients does with an API server what programs written in Go do with one, and prints what came of it: nothing in what it prints is the
// server's own, such as uids, versions and times, so that two servers that behave alike print alike.
//
//	clients KUBECONFIG [PART...]
package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"slices"
	"time"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/klog/v2"
	"sigs.k8s.io/controller-runtime/pkg/log"
)

// A part of the program, in a namespace of its own.
type part struct {
	name string
	run  func(context.Context, *server)
}

var parts = []part{
	{"informer", typedInformer},
	{"dynamic", dynamicInformer},
	{"metadata", metadataInformer},
	{"apply", apply},
	{"formats", formats},
	{"conflicts", conflicts},
	{"refusals", refusals},
	{"watches", watches},
	{"pages", pages},
	{"discovery", discovery},
	{"subresources", subresources},
	{"deletion", deletion},
	{"events", events},
	{"election", election},
	{"manager", manage},
}

// The server, by the clients that every part needs.
type server struct {
	config    *rest.Config
	typed     *kubernetes.Clientset
	proto     *kubernetes.Clientset
	dynamic   *dynamic.DynamicClient
	namespace string
	out       io.Writer
}

// It guards against hangs only.
const patience = 180 * time.Second

func main() {
	if len(os.Args) < 2 {
		fmt.Fprintln(os.Stderr, "usage: clients KUBECONFIG [PART...]")
		os.Exit(2)
	}
	// What libraries say of their own course is no result.
	klog.SetLogger(logr.Discard())
	log.SetLogger(logr.Discard())
	utilruntime.ErrorHandlers = nil
	config, err := clientcmd.BuildConfigFromFlags("", os.Args[1])
	must(err)
	config.QPS = -1
	config.UserAgent = "clients"
	for _, part := range parts {
		if len(os.Args) > 2 && !slices.Contains(os.Args[2:], part.name) {
			continue
		}
		run(config, part)
	}
}

func run(config *rest.Config, part part) {
	ctx, cancel := context.WithTimeout(context.Background(), 2*patience)
	defer cancel()
	protobuf := rest.CopyConfig(config)
	protobuf.ContentType = runtime.ContentTypeProtobuf
	protobuf.AcceptContentTypes = runtime.ContentTypeProtobuf + "," + runtime.ContentTypeJSON
	s := &server{
		config:    config,
		typed:     kubernetes.NewForConfigOrDie(config),
		proto:     kubernetes.NewForConfigOrDie(protobuf),
		dynamic:   dynamic.NewForConfigOrDie(config),
		namespace: "clients-" + part.name,
		out:       os.Stdout,
	}
	s.say("== %s", part.name)
	_, err := s.typed.CoreV1().Namespaces().Create(ctx, &corev1.Namespace{
		ObjectMeta: metav1.ObjectMeta{Name: s.namespace},
	}, metav1.CreateOptions{})
	must(err)
	part.run(ctx, s)
}

// must ends the program: what comes here is no answer to compare but a test that cannot go on.
func must(err error) {
	if err != nil {
		panic(err)
	}
}
