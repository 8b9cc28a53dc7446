package filters

import "net/http"

// Filter wraps a handler.
type Filter = func(next http.Handler) http.Handler
