package e2e_test

import (
	"context"
	"net/http"
	"sync"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
)

const namespace = "default"

// patience limits every wait for an expected event. A passing test does not reach it, on a busy
// machine neither.
const patience = 10 * time.Minute

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func newDeployment(name string) *appsv1.Deployment {
	labels := map[string]string{"app": name}
	return &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: namespace, Labels: labels},
		Spec: appsv1.DeploymentSpec{
			Replicas: new(int32(1)),
			Selector: &metav1.LabelSelector{MatchLabels: labels},
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: labels},
				Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "web", Image: "nginx:1"}}},
			},
		},
	}
}

func newConfigMap(name string) *corev1.ConfigMap {
	return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: namespace}, Data: map[string]string{"n": "0"}}
}

// receive returns the next value. It fails the test if there is none in time.
func receive[T any](t *testing.T, values <-chan T) T {
	t.Helper()
	select {
	case value, ok := <-values:
		if !ok {
			t.Fatal("the channel was closed")
		}
		return value
	case <-time.After(patience):
		t.Fatal("no value in time")
	}
	panic("unreachable")
}

// background runs f until the end of the test and fails the test if f returns an error.
func background(t *testing.T, f func(ctx context.Context) error) (stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- f(ctx) }() // ends with stop or with the test
	stop = sync.OnceFunc(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	t.Cleanup(stop)
	return stop
}

// wire records the requests and responses of a client.
type wire struct {
	mu       sync.Mutex
	requests []string // "METHOD path query content-type accept"
	answers  []string // content types
}

// tap returns a config whose requests are recorded.
func (w *wire) tap(config *rest.Config) *rest.Config {
	config = rest.CopyConfig(config)
	config.Wrap(func(next http.RoundTripper) http.RoundTripper {
		return roundTripper(func(r *http.Request) (*http.Response, error) {
			resp, err := next.RoundTrip(r)
			w.mu.Lock()
			defer w.mu.Unlock()
			w.requests = append(w.requests, r.Method+" "+r.URL.RequestURI()+" "+r.Header.Get("Content-Type"))
			if err == nil {
				w.answers = append(w.answers, resp.Header.Get("Content-Type"))
			}
			return resp, err
		})
	})
	return config
}

// take returns the records since the last call.
func (w *wire) take() (requests, answers []string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	requests, answers = w.requests, w.answers
	w.requests, w.answers = nil, nil
	return requests, answers
}

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }
