package custom_test

import (
	"context"
	"testing"

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
