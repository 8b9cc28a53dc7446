package oidc

import (
	"errors"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"k8s.io/apiserver/pkg/apis/apiserver"
)

func TestTimeoutHasADefault(t *testing.T) {
	if got := new(Config).timeout(); got != 10*time.Second {
		t.Errorf("got %v", got)
	}
}

// down is an issuer that cannot be reached. It counts the requests.
type down struct{ requests int }

func (d *down) RoundTrip(*http.Request) (*http.Response, error) {
	d.requests++
	return nil, errors.New("down")
}

// A failed discovery is repeated for a token that arrives at least a second later.
func TestFailedDiscoveriesAreLimited(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		issuer := &down{}
		keys := newKeySet(t.Context(), &http.Client{Transport: issuer}, apiserver.Issuer{URL: "https://issuer.example.com"})
		for _, c := range []struct {
			after    time.Duration
			requests int
		}{{0, 1}, {time.Second - 1, 1}, {1, 2}, {0, 2}} {
			time.Sleep(c.after)
			if _, err := keys.VerifySignature(t.Context(), "token"); err == nil || issuer.requests != c.requests {
				t.Errorf("after %v: %d requests, want %d; error %v", c.after, issuer.requests, c.requests, err)
			}
		}
	})
}
