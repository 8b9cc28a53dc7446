package encoding

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

	"github.com/miniapi/miniapi/kinds"
)

var errUnreadable = errors.New("unreadable")

// failAfter yields n large pods and then an error.
func failAfter(m *MediaType, n int) iter.Seq2[Body, error] {
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: strings.Repeat("x", writeBufferSize)}}
	return func(yield func(Body, error) bool) {
		for range n {
			bytes, err := m.encode(pod)
			if !yield(Body{bytes: bytes}, err) {
				return
			}
		}
		yield(Body{}, errUnreadable)
	}
}

// An error before the first byte is returned. A later error aborts the response, so that the client
// does not take the beginning of the list for all of it.
func TestWriteListWithUnreadableItem(t *testing.T) {
	p := NewResponder(Config{Scheme: kinds.Scheme()})
	for i := range p.mediaTypes {
		m := &p.mediaTypes[i]
		t.Run(m.Type, func(t *testing.T) {
			if err := tryList(p, m, failAfter(m, 0)); !errors.Is(err, errUnreadable) {
				t.Errorf("before the first byte: %v", err)
			}
			want := http.ErrAbortHandler
			if m.Type == runtime.ContentTypeProtobuf { // it begins with its length, which needs all items
				want = errUnreadable
			}
			if err := tryList(p, m, failAfter(m, 3)); !errors.Is(err, want) {
				t.Errorf("after three items: %v", err)
			}
		})
	}
}

// tryList returns the error or panic of WriteList.
func tryList(p *Responder, m *MediaType, items iter.Seq2[Body, error]) (err error) {
	defer func() {
		if reason := recover(); reason != nil {
			err = reason.(error)
		}
	}()
	list := List{Header: metav1.TypeMeta{Kind: "PodList", APIVersion: "v1"}, Len: 10, Items: items}
	return p.WriteList(httptest.NewRecorder(), httptest.NewRequest("GET", "/", nil), Format{MediaType: m}, list)
}
