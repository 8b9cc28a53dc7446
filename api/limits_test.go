package api

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/types"
)

func TestLargeBodiesAreRejected(t *testing.T) {
	s := newStack(t, nil)
	body := `{"metadata":{"name":"a"},"data":{"k":"` + strings.Repeat("x", maxBodySize) + `"}}`
	got := s.must(http.StatusRequestEntityTooLarge, s.do("POST", "/api/v1/namespaces/default/configmaps", body))
	if !strings.Contains(got.body, `"message":"Request entity too large: limit is 3145728"`) {
		t.Errorf("got %s", got.body)
	}
}

func TestJSONPatchLimits(t *testing.T) {
	s := newStack(t, nil)
	s.configMap("a", strings.Repeat("x", 1000))
	operations := func(n int, operation func(i int) string) string {
		list := make([]string, n)
		for i := range list {
			list[i] = operation(i)
		}
		return "[" + strings.Join(list, ",") + "]"
	}
	tests := []struct {
		name, patch string
		status      int
	}{
		{"the maximum number of operations", operations(maxOperations, func(int) string { return `{"op":"test","path":"/kind","value":"ConfigMap"}` }), http.StatusOK},
		{"one operation more", operations(maxOperations+1, func(int) string { return `{"op":"test","path":"/kind","value":"ConfigMap"}` }), http.StatusRequestEntityTooLarge},
		{"some copies", operations(10, func(i int) string { return fmt.Sprintf(`{"op":"copy","from":"/data/k","path":"/data/k%d"}`, i) }), http.StatusOK},
		{"copies of copies", operations(64, func(i int) string { return fmt.Sprintf(`{"op":"copy","from":"/data","path":"/data/d%d"}`, i) }), http.StatusUnprocessableEntity},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			s.must(test.status, s.do("PATCH", "/api/v1/namespaces/default/configmaps/a?dryRun=All", test.patch,
				"Content-Type: "+string(types.JSONPatchType)))
		})
	}
}

// Concurrent patches without a resourceVersion all succeed, while others read.
func TestConcurrentPatches(t *testing.T) {
	s := newStack(t, nil)
	s.configMap("a", "0")
	const writers, rounds = 4, 10
	done := make(chan error, 2*writers)
	send := func(method, path, body string) error {
		for range rounds {
			got, err := s.try(method, path, body, "Content-Type: application/merge-patch+json")
			if err != nil {
				return err
			}
			if got.status != http.StatusOK {
				return fmt.Errorf("%s %s: %d %s", method, path, got.status, got.body)
			}
		}
		return nil
	}
	for i := range writers {
		go func() {
			done <- send("PATCH", "/api/v1/namespaces/default/configmaps/a", fmt.Sprintf(`{"data":{"w%d":"in"}}`, i))
		}()
		go func() { done <- send("GET", "/api/v1/configmaps", "") }()
	}
	for range 2 * writers {
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
	got := s.do("GET", "/api/v1/namespaces/default/configmaps/a", "")
	for i := range writers {
		if !strings.Contains(got.body, fmt.Sprintf(`"w%d":"in"`, i)) {
			t.Errorf("the change of writer %d is missing in %s", i, got.body)
		}
	}
}
