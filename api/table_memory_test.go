package api

import (
	"context"
	"net/http/httptest"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/miniapi/miniapi/storage"
)

// Nothing reserves memory for the objects of a Table, so the entries of a page that was read from
// etcd, which have no memo, do not keep them while the Table is sent.
func TestTablesKeepNoObjects(t *testing.T) {
	decoder := &storage.Decoder{Decode: func(context.Context, string, int64, []byte) (runtime.Object, error) {
		return &corev1.Pod{}, nil
	}}
	entry := decoder.Entry("/pods/default/a", 1, []byte("a"))
	c := &call{r: httptest.NewRequest("GET", pods, nil)}
	for obj, err := range c.objects([]*storage.Entry{entry}) {
		if _, ok := obj.(*corev1.Pod); !ok || err != nil {
			t.Fatalf("got %T, %v", obj, err)
		}
	}
	if entry.DecodingSize() == 0 {
		t.Error("the entry keeps its object")
	}
}
