package miniapi

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	cbor "k8s.io/apimachinery/pkg/runtime/serializer/cbor/direct"
	"k8s.io/apimachinery/pkg/selection"
	"sigs.k8s.io/yaml"

	"github.com/miniapi/miniapi/api/request"
)

// requestLabels returns the labels of the object of a request: of the stored object, else of the
// object in the body. A request for several objects has the labels that its label selector
// requires.
func (s *Server) requestLabels(r *http.Request) labels.Set {
	info := request.InfoFrom(r)
	switch info.Verb {
	case "list", "watch", "deletecollection":
		return selectedLabels(r.URL.Query().Get("labelSelector"))
	}
	if info.Name != "" {
		if stored, ok := s.storedLabels(r.Context(), info.Target); ok {
			return stored
		}
	}
	return bodyLabels(r)
}

// selectedLabels returns the labels that a selector requires to have one value.
func selectedLabels(selector string) labels.Set {
	required, err := labels.ParseToRequirements(selector)
	if err != nil {
		return nil
	}
	set := labels.Set{}
	for _, r := range required {
		switch r.Operator() {
		case selection.Equals, selection.DoubleEquals, selection.In:
			if values := r.Values(); values.Len() == 1 {
				set[r.Key()] = values.UnsortedList()[0]
			}
		}
	}
	return set
}

// storedLabels returns the labels of a stored object. It returns false if there is none.
func (s *Server) storedLabels(ctx context.Context, target request.Target) (labels.Set, bool) {
	store, ok := s.store(schema.GroupResource{Group: target.Group, Resource: target.Resource})
	if !ok {
		return nil, false
	}
	namespace := target.Namespace
	if !store.Resource().Namespaced {
		namespace = ""
	}
	entry, err := store.Get(ctx, namespace, target.Name, "0") // not older than any write of this server
	if err != nil {
		return nil, false
	}
	obj, err := entry.Object()
	if err != nil {
		return nil, false
	}
	accessor, err := meta.Accessor(obj)
	if err != nil {
		return nil, false
	}
	return accessor.GetLabels(), true
}

// maxLabelBody limits the part of a body that is read for labels. It is the largest body that the
// server accepts.
const maxLabelBody = 3 << 20

// bodyLabels returns the labels of the object in the body, none if there is no object. The body can
// be read again.
func bodyLabels(r *http.Request) labels.Set {
	if r.Body == nil {
		return nil
	}
	data, err := io.ReadAll(io.LimitReader(r.Body, maxLabelBody))
	r.Body = &replayedBody{io.MultiReader(bytes.NewReader(data), r.Body), r.Body}
	if err != nil {
		return nil
	}
	var object metav1.PartialObjectMetadata
	if message, ok := bytes.CutPrefix(data, []byte("k8s\x00")); ok {
		var envelope runtime.Unknown
		if envelope.Unmarshal(message) == nil {
			_ = object.Unmarshal(envelope.Raw) // metadata is the first field of all kinds
		}
		return object.Labels
	}
	if strings.Contains(r.Header.Get("Content-Type"), "cbor") {
		var u unstructured.Unstructured
		_ = cbor.Unmarshal(data, &u.Object)
		return u.GetLabels()
	}
	_ = yaml.Unmarshal(data, &object) // JSON is YAML
	return object.Labels
}

// replayedBody is a body of which a part was read before.
type replayedBody struct {
	io.Reader
	body io.Closer
}

// Close implements io.Closer.
func (b *replayedBody) Close() error { return b.body.Close() }
