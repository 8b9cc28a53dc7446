package api

import (
	"net/http/httptest"
	"testing"

	autoscalingv2 "k8s.io/api/autoscaling/v2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/miniapi/miniapi/kinds"
	"github.com/miniapi/miniapi/kinds/feature"
	"github.com/miniapi/miniapi/registry"
	"github.com/miniapi/miniapi/storage"
	"github.com/miniapi/miniapi/versioner"
)

// autoscalerServer returns a server with two autoscalers, whose entries all requests share.
func autoscalerServer(t *testing.T, memo *storage.Memo) *Server {
	t.Helper()
	catalog := registry.NewCatalog(registry.CatalogConfig{Storage: func(codec storage.Codec) storage.Interface {
		decoder := storage.NewDecoder(codec, versioner.APIObjectVersioner{}).With(memo)
		shared := &sharedEntries{}
		for i, name := range []string{"a", "b"} {
			minReplicas := int32(2)
			data, err := codec.Encode(&autoscalingv2.HorizontalPodAutoscaler{
				ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: "default"},
				Spec:       autoscalingv2.HorizontalPodAutoscalerSpec{MinReplicas: &minReplicas, MaxReplicas: 5},
			})
			if err != nil {
				t.Fatal(err)
			}
			shared.entries = append(shared.entries, decoder.Entry("/horizontalpodautoscalers/default/"+name, int64(7+i), data))
		}
		return shared
	}})
	for _, r := range kinds.Resources(feature.Default()) {
		if r.Name == "horizontalpodautoscalers" {
			if err := catalog.Add(r); err != nil {
				t.Fatal(err)
			}
		}
	}
	s, err := New(Config{Catalog: catalog, Scheme: kinds.Scheme()})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// Memoised bodies do not change responses: a body is used only for its version, format and
// transformation.
func TestMemoDoesNotChangeResponses(t *testing.T) {
	type request struct{ path, accept string }
	var requests []request
	for _, version := range []string{"v1", "v2"} {
		path := "/apis/autoscaling/" + version + "/namespaces/default/horizontalpodautoscalers"
		for _, m := range []string{"application/json", "application/yaml", "application/vnd.kubernetes.protobuf"} {
			requests = append(requests, request{path, m}, request{path + "/a", m},
				request{path, m + ";as=PartialObjectMetadataList;g=meta.k8s.io;v=v1"},
				request{path + "/a", m + ";as=PartialObjectMetadata;g=meta.k8s.io;v=v1"},
				request{path + "/a", m + ";as=PartialObjectMetadata;g=meta.k8s.io;v=v1beta1"})
		}
		requests = append(requests, request{path, "application/json;as=Table;g=meta.k8s.io;v=v1"})
	}
	memo := storage.NewMemo(storage.DefaultMemo)
	without, with := autoscalerServer(t, nil), autoscalerServer(t, memo)
	responses := map[string]bool{}
	for round := range 3 {
		for _, r := range requests {
			want, got := get(without, r.path, r.accept), get(with, r.path, r.accept)
			if want != got {
				t.Errorf("%s as %s, round %d: got %q, want %q", r.path, r.accept, round, got, want)
			}
			responses[got] = true
		}
	}
	// The metadata and the Table are equal in both versions.
	if want := len(requests) - 3*3 - 1; len(responses) != want {
		t.Errorf("%d different responses, want %d", len(responses), want)
	}
	// Two objects, each in two versions and as metadata, in two encodings.
	if made, want := memo.Stats().Made, uint64(2+2*(3+3)); made != want {
		t.Errorf("the memo has %d values, want %d", made, want)
	}
}

func get(s *Server, path, accept string) string {
	r := httptest.NewRequest("GET", path, nil)
	r.Header.Set("Accept", accept)
	w := httptest.NewRecorder()
	s.Handler().ServeHTTP(w, r)
	return w.Header().Get("Content-Type") + "\n" + w.Body.String()
}
