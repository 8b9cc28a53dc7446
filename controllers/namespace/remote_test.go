package namespace

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"path"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// things is an API server with objects in pages of two, which does not delete collections.
type things map[string]bool

func (s things) RoundTrip(r *http.Request) (*http.Response, error) {
	answer := httptest.NewRecorder()
	const collection = "/apis/example.org/v1/namespaces/n/things"
	switch {
	case r.Method == http.MethodDelete && r.URL.Path == collection:
		answer.WriteHeader(http.StatusMethodNotAllowed)
		fmt.Fprint(answer, `{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"MethodNotAllowed","code":405}`)
	case r.Method == http.MethodDelete:
		delete(s, path.Base(r.URL.Path))
	case r.URL.Path == collection:
		if err := json.NewEncoder(answer).Encode(s.page(r.URL.Query().Get("continue"))); err != nil {
			return nil, err
		}
	default:
		http.NotFound(answer, r)
	}
	return answer.Result(), nil
}

func (s things) page(after string) (page metav1.PartialObjectMetadataList) {
	for _, name := range slices.Sorted(maps.Keys(s)) {
		switch {
		case name <= after:
		case len(page.Items) == 2:
			page.Continue = page.Items[1].Name
		default:
			page.Items = append(page.Items, metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{Name: name}})
		}
	}
	return page
}

func client(transport http.RoundTripper, namespace string) *remoteClient {
	return &remoteClient{
		transport: transport, resource: schema.GroupVersionResource{Group: "example.org", Version: "v1", Resource: "things"},
		path: "/apis/example.org/v1/namespaces/" + namespace + "/things", timeout: remoteTimeout,
	}
}

// An API server that does not delete collections gets a request for each object on each page.
func TestObjectsAreDeletedOneByOne(t *testing.T) {
	for _, collection := range []bool{true, false} {
		s := things{"a": true, "b": true, "c": true, "d": true, "e": true}
		if err := client(s, "n").deleteAll(t.Context(), collection); err != nil || len(s) > 0 {
			t.Errorf("collection %v: error %v, objects %v", collection, err, s)
		}
	}
}

// A failure is an error with the Status of the other server, or with its text.
func TestFailuresOfAnAPIServer(t *testing.T) {
	err := client(things{}, "n").delete(t.Context(), "")
	if !apierrors.IsMethodNotSupported(err) {
		t.Errorf("a Status: %v", err)
	}
	err = client(things{}, "missing").eachPage(t.Context(), nil)
	if !apierrors.IsNotFound(err) {
		t.Errorf("a text: %v", err)
	}
}

// endless is an API server whose answers are larger than a page can be.
type endless struct{}

func (endless) RoundTrip(*http.Request) (*http.Response, error) {
	return &http.Response{StatusCode: http.StatusOK, Body: io.NopCloser(zeroes{})}, nil
}

// silent is an API server that does not answer.
type silent struct{}

func (silent) RoundTrip(r *http.Request) (*http.Response, error) {
	<-r.Context().Done()
	return nil, r.Context().Err()
}

func TestRequestsToOtherServersHaveATimeout(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		err := client(silent{}, "n").delete(t.Context(), "")
		if took := time.Since(began); !errors.Is(err, context.DeadlineExceeded) || took != 30*time.Second {
			t.Errorf("got error %v after %v", err, took)
		}
	})
}

type zeroes struct{}

func (zeroes) Read(p []byte) (int, error) { return len(p), nil }

func TestLargePagesOfOtherServersAreErrors(t *testing.T) {
	var page metav1.PartialObjectMetadataList
	err := client(endless{}, "n").do(t.Context(), http.MethodGet, &url.URL{Path: "/"}, nil, &page)
	if err == nil || err.Error() != "the answer is too large" {
		t.Errorf("got error %v", err)
	}
}
