package api

import (
	"net/http"
	"unicode/utf8"

	utilnet "k8s.io/apimachinery/pkg/util/net"

	"github.com/miniapi/miniapi/registry"
)

// Limits of kube-apiserver, in characters: when all warnings together are longer
// than the first, each is cut to the second.
const (
	warningsTotal = 4 << 10
	warningsEach  = 256
)

// collectWarnings sends what was warned of as Warning headers.
func collectWarnings(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		ctx, warnings := registry.WithWarnings(r.Context())
		w = &response{ResponseWriter: w, beforeHeader: func(h http.Header) { addWarnings(h, warnings.List()) }}
		next.ServeHTTP(w, r.WithContext(ctx))
	})
}

func addWarnings(header http.Header, texts []string) {
	total := 0
	for _, text := range texts {
		total += utf8.RuneCountInString(text)
	}
	left := warningsTotal
	for _, text := range texts {
		if runes := []rune(text); total > warningsTotal && len(runes) > warningsEach {
			text = string(runes[:warningsEach])
		}
		if left -= utf8.RuneCountInString(text); left < 0 {
			return
		}
		if value, err := utilnet.NewWarningHeader(299, "-", text); err == nil {
			header.Add("Warning", value)
		}
	}
}
