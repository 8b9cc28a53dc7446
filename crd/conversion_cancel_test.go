package crd_test

import (
	"context"
	"runtime"
	"testing"
	"time"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// hang makes the webhook block all calls until the end of the test. The channel receives the first
// call.
func (h *webhookServer) hang(t *testing.T) (called <-chan struct{}) {
	first, over := make(chan struct{}, 1), make(chan struct{})
	t.Cleanup(func() { close(over) })
	h.set(func(*apiextensionsv1.ConversionReview) {
		select {
		case first <- struct{}{}:
		default:
		}
		<-over
	})
	return first
}

// stop stops the server. It fails the test if requests had to be cancelled.
func (e *env) stop() {
	e.Helper()
	if err := e.server.Stop(context.Background()); err != nil {
		e.Errorf("stop: %v", err)
	}
}

func TestServerStopCancelsConversions(t *testing.T) {
	e, h := start(t), startWebhookServer(t)
	e.create(define(hostPort, withConversion(h)))
	e.widget("w", "spec: {hostPort: 'a:1'}")
	called, failed := h.hang(t), make(chan error)
	go func() {
		_, err := e.widgets("v2").Get(t.Context(), "w", metav1.GetOptions{})
		failed <- err
	}()
	<-called
	e.stop()
	if err := <-failed; err == nil {
		t.Error("the request succeeded without the webhook")
	}
}

// The cleanup of a definition reads the objects in the current storage version.
func TestServerStopCancelsCleanup(t *testing.T) {
	e, h := start(t), startWebhookServer(t)
	e.create(define(hostPort, withConversion(h)))
	e.widget("w", "spec: {hostPort: 'a:1'}")
	e.change("widgets", func(d *definition) { d.Spec.Versions[0].Storage, d.Spec.Versions[1].Storage = false, true })
	called := h.hang(t)
	if err := e.definitions.Delete(t.Context(), "widgets."+group, metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	<-called
	e.stop()
}

// TestClientCancelsConversion cancels requests during a conversion: the one that called the webhook
// and those that wait for the same response. All of them end.
func TestClientCancelsConversion(t *testing.T) {
	e, h := start(t), startWebhookServer(t)
	e.create(define(hostPort, withConversion(h)))
	e.widget("w", "spec: {hostPort: 'a:1'}")
	called := h.hang(t)
	ctx, cancel := context.WithCancel(t.Context())
	read := map[string]func() error{
		"get": func() error {
			_, err := e.widgets("v2").Get(ctx, "w", metav1.GetOptions{})
			return err
		},
		"list": func() error {
			_, err := e.widgets("v2").List(ctx, metav1.ListOptions{})
			return err
		},
		"selection": func() error {
			_, err := e.widgets("v2").List(ctx, metav1.ListOptions{LabelSelector: "a=b"})
			return err
		},
	}
	failed := make(chan error, len(read))
	for _, one := range read {
		go func() { failed <- one() }() // ends with ctx
	}
	<-called
	for len(e.server.OpenRequests()) < len(read) {
		runtime.Gosched()
	}
	cancel()
	for range read {
		if err := <-failed; err == nil {
			t.Error("the request succeeded without the webhook")
		}
	}
	patient, stop := context.WithTimeout(t.Context(), 5*time.Minute)
	defer stop()
	if err := e.server.AwaitIdle(patient); err != nil {
		t.Errorf("requests are open: %v", e.server.OpenRequests())
	}
}
