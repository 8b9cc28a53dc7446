package filters

import (
	"net/http"
	"unicode/utf8"

	utilnet "k8s.io/apimachinery/pkg/util/net"

	"github.com/miniapi/miniapi/registry"
)

// Limits of kube-apiserver, in characters. If all warnings together are longer than
// maxWarningsTotal, each is truncated to maxWarningTruncated.
const (
	maxWarningsTotal    = 4 << 10
	maxWarningTruncated = 256
)

// WithWarnings sends the warnings that registry.AddWarning records as Warning headers.
func WithWarnings(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		ctx, warnings := registry.WithWarnings(r.Context())
		w = &Recorder{ResponseWriter: w, beforeHeader: func(_ int, h http.Header) { addWarnings(h, warnings.List()) }}
		next.ServeHTTP(w, r.WithContext(ctx))
	})
}

func addWarnings(header http.Header, texts []string) {
	total := 0
	for _, text := range texts {
		total += utf8.RuneCountInString(text)
	}
	remaining := maxWarningsTotal
	for _, text := range texts {
		if runes := []rune(text); total > maxWarningsTotal && len(runes) > maxWarningTruncated {
			text = string(runes[:maxWarningTruncated])
		}
		if remaining -= utf8.RuneCountInString(text); remaining < 0 {
			return
		}
		if value, err := utilnet.NewWarningHeader(299, "-", text); err == nil {
			header.Add("Warning", value)
		}
	}
}
