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

// hook is a conversion webhook. In v2 a widget has spec.host and spec.port, in
// all other versions spec.hostPort.
type hook struct {
	*httptest.Server
	mu      sync.Mutex // guards what follows
	calls   []string   // what was asked for: version of the review, of the object, name
	opened  int        // connections
	closed  int
	respond func(review *apiextensionsv1.ConversionReview) // nil: convert
}

func startHook(t *testing.T) *hook {
	t.Helper()
	h := &hook{}
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

func (h *hook) bundle() []byte {
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: h.Certificate().Raw})
}

// ServeHTTP answers a review in its own version.
func (h *hook) ServeHTTP(w http.ResponseWriter, r *http.Request) {
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

// convertReview does its work as many webhooks do, in the response that is there.
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

// take returns what has been asked since the last time.
func (h *hook) take() []string {
	h.mu.Lock()
	defer h.mu.Unlock()
	calls := h.calls
	h.calls = nil
	return calls
}

func (h *hook) set(respond func(*apiextensionsv1.ConversionReview)) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.respond = respond
}

// converted gives widgets a version v2, which a webhook converts to.
func converted(h *hook, edits ...func(*apiextensionsv1.WebhookConversion)) func(*definition) {
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
