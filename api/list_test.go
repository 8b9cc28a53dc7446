package api

import (
	"errors"
	"iter"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

var errUnreadable = errors.New("unreadable")

// breakingAfter yields n large pods and then an error.
func breakingAfter(m *media, n int) iter.Seq2[encoded, error] {
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: strings.Repeat("x", listBuffer)}}
	return func(yield func(encoded, error) bool) {
		for range n {
			bytes, err := m.encode(pod)
			if !yield(encoded{bytes: bytes}, err) {
				return
			}
		}
		yield(encoded{}, errUnreadable)
	}
}

// An unreadable object is told as long as nothing was sent; half a list breaks
// the connection, so that nobody takes it for a whole one.
func TestUnreadableItems(t *testing.T) {
	for _, m := range newMediaTable(podCall(t).server.codec.scheme) {
		t.Run(m.Type, func(t *testing.T) {
			if err := tryList(t, &m, breakingAfter(&m, 0)); !errors.Is(err, errUnreadable) {
				t.Errorf("before the first byte: %v", err)
			}
			// Only JSON is sent before all of the list was looked at.
			want := errUnreadable
			if m.Type == runtime.ContentTypeJSON {
				want = http.ErrAbortHandler
			}
			if err := tryList(t, &m, breakingAfter(&m, 3)); !errors.Is(err, want) {
				t.Errorf("halfway: %v", err)
			}
		})
	}
}

// tryList returns the error or the panic of writing a list.
func tryList(t *testing.T, m *media, items iter.Seq2[encoded, error]) (err error) {
	t.Helper()
	defer func() {
		if fault := recover(); fault != nil {
			err = fault.(error)
		}
	}()
	c := podCall(t)
	c.server.compressors, c.server.listBuffers, c.server.life = newCompressors(), newListBuffers(), newLifecycle()
	c.server.config.setDefaults()
	c.w, c.format = httptest.NewRecorder(), format{media: m}
	return c.writeList(listing{header: metav1.TypeMeta{Kind: "PodList", APIVersion: "v1"}, items: items})
}
