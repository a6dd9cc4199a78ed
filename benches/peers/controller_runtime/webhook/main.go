// The webhook of the benchmark with controller-runtime, written as its documentation advises: a
// custom validator on the built-in webhook server.
//
// Arguments: the port, and the folder with tls.crt and tls.key.
package main

import (
	"context"
	"encoding/json"
	"net/http"
	"os"
	"strconv"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/log/zap"
	"sigs.k8s.io/controller-runtime/pkg/webhook"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"
)

type note struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`
	Spec              struct {
		Text string `json:"text"`
	} `json:"spec"`
}

type validator struct{}

func (validator) Handle(_ context.Context, request admission.Request) admission.Response {
	var object note
	if err := json.Unmarshal(request.Object.Raw, &object); err != nil {
		return admission.Errored(http.StatusBadRequest, err)
	}
	if object.Spec.Text == "forbidden" {
		return admission.Denied("this text is forbidden")
	}
	return admission.Allowed("")
}

func main() {
	ctrl.SetLogger(zap.New())
	port, err := strconv.Atoi(os.Args[1])
	if err != nil {
		panic(err)
	}
	server := webhook.NewServer(webhook.Options{Host: "127.0.0.1", Port: port, CertDir: os.Args[2]})
	server.Register("/validate/note-rules", &admission.Webhook{Handler: validator{}})
	if err := server.Start(ctrl.SetupSignalHandler()); err != nil {
		panic(err)
	}
}
