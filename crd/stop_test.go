package crd_test

import (
	"context"
	"runtime"
	"testing"
	"time"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// hang makes a webhook keep whoever asks until the test is over, and tells that
// somebody does.
func (h *hook) hang(t *testing.T) (asked <-chan struct{}) {
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

// stop ends the server, which must not have to break anything off.
func (e *env) stop() {
	e.Helper()
	if err := e.server.Stop(context.Background()); err != nil {
		e.Errorf("stop: %v", err)
	}
}

func TestRequestsThatWaitForAWebhookEndWithTheServer(t *testing.T) {
	e, h := start(t), startHook(t)
	e.create(define(hostPort, converted(h)))
	e.widget("w", "spec: {hostPort: 'a:1'}")
	asked, failed := h.hang(t), make(chan error)
	go func() {
		_, err := e.widgets("v2").Get(t.Context(), "w", metav1.GetOptions{})
		failed <- err
	}()
	<-asked
	e.stop()
	if err := <-failed; err == nil {
		t.Error("there was an answer without the webhook")
	}
}

// The objects of a definition that is being deleted are read in the version that
// is stored now.
func TestCleanupThatWaitsForAWebhookEndsWithTheServer(t *testing.T) {
	e, h := start(t), startHook(t)
	e.create(define(hostPort, converted(h)))
	e.widget("w", "spec: {hostPort: 'a:1'}")
	e.change("widgets", func(d *definition) { d.Spec.Versions[0].Storage, d.Spec.Versions[1].Storage = false, true })
	asked := h.hang(t)
	if err := e.definitions.Delete(t.Context(), "widgets."+group, metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	<-asked
	e.stop()
}

// TestRequestsThatWaitForAWebhookEndWithTheirClients shows that no request waits for a webhook that
// hangs once its client is gone: neither the one that has asked nor those that wait for its answer.
func TestRequestsThatWaitForAWebhookEndWithTheirClients(t *testing.T) {
	e, h := start(t), startHook(t)
	e.create(define(hostPort, converted(h)))
	e.widget("w", "spec: {hostPort: 'a:1'}")
	asked := h.hang(t)
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
	<-asked
	for len(e.server.OpenRequests()) < len(read) {
		runtime.Gosched()
	}
	cancel()
	for range read {
		if err := <-failed; err == nil {
			t.Error("there was an answer without the webhook")
		}
	}
	patient, stop := context.WithTimeout(t.Context(), 10*time.Second)
	defer stop()
	if err := e.server.AwaitIdle(patient); err != nil {
		t.Errorf("requests are open: %v", e.server.OpenRequests())
	}
}
