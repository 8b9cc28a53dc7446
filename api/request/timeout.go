package request

import (
	"fmt"
	"net/http"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// MaxTimeout bounds every request except watches and connections.
const MaxTimeout = time.Minute

// Timeout returns the time that a request may take: its query parameter timeout, or MaxTimeout if
// that is shorter or the parameter is not positive. An invalid parameter is a 400.
func Timeout(r *http.Request) (time.Duration, error) {
	text := r.URL.Query().Get("timeout")
	if text == "" {
		return MaxTimeout, nil
	}
	timeout, err := time.ParseDuration(text)
	if err != nil {
		return 0, apierrors.NewBadRequest(fmt.Sprintf("invalid timeout specified in the request URL - %v", err))
	}
	if timeout <= 0 {
		return MaxTimeout, nil
	}
	return min(MaxTimeout, timeout), nil
}
