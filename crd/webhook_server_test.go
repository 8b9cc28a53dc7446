package crd_test

import (
	"encoding/json"
	"encoding/pem"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
)

// webhookServer is a conversion webhook. In v2 a widget has spec.host and spec.port, in
// all other versions spec.hostPort.
type webhookServer struct {
	*httptest.Server
	mu sync.Mutex // guards the fields below
	// calls are the reviews received: version of the review, name and version of each object.
	calls   []string
	opened  int // connections
	closed  int
	respond func(review *apiextensionsv1.ConversionReview) // nil: convert
}

func startWebhookServer(t *testing.T) *webhookServer {
	t.Helper()
	h := &webhookServer{}
	h.Server = httptest.NewUnstartedServer(h)
	h.Config.ErrorLog = log.New(io.Discard, "", 0)
	h.Config.ConnState = func(_ net.Conn, state http.ConnState) {
		h.mu.Lock()
		defer h.mu.Unlock()
		switch state {
		case http.StateNew:
			h.opened++
		case http.StateClosed:
			h.closed++
		}
	}
	h.StartTLS()
	t.Cleanup(h.Close)
	return h
}

func (h *webhookServer) bundle() []byte {
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: h.Certificate().Raw})
}

// ServeHTTP answers a review in its own version.
func (h *webhookServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	review := &apiextensionsv1.ConversionReview{}
	if err := json.NewDecoder(r.Body).Decode(review); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, raw := range review.Request.Objects {
		u := &unstructured.Unstructured{}
		if err := u.UnmarshalJSON(raw.Raw); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		h.calls = append(h.calls, fmt.Sprintf("%s: %s in %s to %s", review.APIVersion, u.GetName(), u.GetAPIVersion(), review.Request.DesiredAPIVersion))
	}
	if h.respond != nil {
		h.respond(review)
	} else {
		convertReview(review)
	}
	if err := json.NewEncoder(w).Encode(review); err != nil {
		panic(err)
	}
}

// convertReview completes the response of the review that it received, as many webhooks do.
func convertReview(review *apiextensionsv1.ConversionReview) {
	response := review.Response
	response.UID, response.Result.Status = review.Request.UID, metav1.StatusSuccess
	for _, raw := range review.Request.Objects {
		u := &unstructured.Unstructured{}
		if err := u.UnmarshalJSON(raw.Raw); err != nil {
			panic(err)
		}
		u.SetAPIVersion(review.Request.DesiredAPIVersion)
		if fields, ok := u.Object["spec"].(map[string]any); ok {
			convertSpec(fields, review.Request.DesiredAPIVersion)
		}
		response.ConvertedObjects = append(response.ConvertedObjects, runtime.RawExtension{Object: u})
	}
	review.Request = nil
}

func convertSpec(fields map[string]any, apiVersion string) {
	_, joined := fields["hostPort"]
	switch apart := strings.HasSuffix(apiVersion, "/v2"); {
	case apart && joined:
		fields["host"], fields["port"], _ = strings.Cut(fmt.Sprint(fields["hostPort"]), ":")
		delete(fields, "hostPort")
	case !apart && !joined:
		fields["hostPort"] = fmt.Sprintf("%v:%v", fields["host"], fields["port"])
		delete(fields, "host")
		delete(fields, "port")
	}
}

// take returns the calls since the last take.
func (h *webhookServer) take() []string {
	h.mu.Lock()
	defer h.mu.Unlock()
	calls := h.calls
	h.calls = nil
	return calls
}

func (h *webhookServer) set(respond func(*apiextensionsv1.ConversionReview)) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.respond = respond
}

// withConversion adds version v2 to widgets, with a conversion webhook.
func withConversion(h *webhookServer, edits ...func(*apiextensionsv1.WebhookConversion)) func(*definition) {
	return func(d *definition) {
		d.Spec.Versions = append(d.Spec.Versions, versionOf("v2", `spec: {type: object, properties: {host: {type: string}, port: {type: string}}}`))
		conversion := &apiextensionsv1.WebhookConversion{
			ConversionReviewVersions: []string{"v1"},
			ClientConfig:             &apiextensionsv1.WebhookClientConfig{URL: new(h.URL + "/convert"), CABundle: h.bundle()},
		}
		for _, edit := range edits {
			edit(conversion)
		}
		d.Spec.Conversion = &apiextensionsv1.CustomResourceConversion{Strategy: apiextensionsv1.WebhookConverter, Webhook: conversion}
	}
}
