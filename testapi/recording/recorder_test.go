package recording_test

import (
	"net/http/httptest"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/miniapi/miniapi/testapi/recording"
)

// A client of the proxy gets the reason if the API server does not answer.
func TestRecorderOfUnreachableServer(t *testing.T) {
	recorder, err := recording.NewRecorder(&rest.Config{Host: "http://127.0.0.1:1"})
	if err != nil {
		t.Fatal(err)
	}
	proxy := httptest.NewServer(recorder)
	defer proxy.Close()
	client, err := kubernetes.NewForConfig(&rest.Config{Host: proxy.URL})
	if err != nil {
		t.Fatal(err)
	}
	_, err = client.CoreV1().Pods("default").Get(t.Context(), "a", metav1.GetOptions{})
	if !apierrors.IsServiceUnavailable(err) || !strings.Contains(err.Error(), "the server does not answer: dial tcp 127.0.0.1:1") {
		t.Errorf("error %v", err)
	}
}
