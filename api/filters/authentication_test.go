package filters

import (
	"errors"
	"log/slog"
	"net/http"
	"strings"
	"testing"

	authenticationv1 "k8s.io/api/authentication/v1"
)

func TestUnauthenticatedRequestsAreRejected(t *testing.T) {
	reject := func(*http.Request) (*authenticationv1.UserInfo, error) {
		return nil, errors.New("this token is a secret")
	}
	handler := chain(func(http.ResponseWriter, *http.Request) { t.Error("the request is handled") },
		WithAuthentication(reject, slog.New(slog.DiscardHandler), responder))
	got := serve(handler, newRequest(t, "GET /api/v1/pods", "Authorization: Bearer wrong"))
	body := got.Body.String()
	if got.Code != http.StatusUnauthorized || !strings.Contains(body, `"message":"Unauthorized","reason":"Unauthorized"`) || strings.Contains(body, "secret") {
		t.Errorf("got %d %s", got.Code, body)
	}
}
