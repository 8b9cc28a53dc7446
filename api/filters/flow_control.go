package filters

import (
	"net/http"

	"github.com/miniapi/miniapi/api/flowcontrol"
	"github.com/miniapi/miniapi/api/request"
)

// WithFlowControlHeaders adds the FlowSchema and the priority level of a request to the headers of
// the response. Long-running requests other than watches are not classified. Without a classifier
// there are no such headers.
func WithFlowControlHeaders(classifier *flowcontrol.Classifier) Filter {
	return func(next http.Handler) http.Handler {
		if classifier == nil {
			return next
		}
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if info := request.InfoFrom(r); info.Verb == "watch" || !info.IsLongRunning() {
				if class, ok := classifier.Classify(r); ok {
					w.Header().Set("X-Kubernetes-PF-FlowSchema-UID", string(class.FlowSchema))
					w.Header().Set("X-Kubernetes-PF-PriorityLevel-UID", string(class.PriorityLevel))
				}
			}
			next.ServeHTTP(w, r)
		})
	}
}
