package filters

import (
	"net/http"
	"sync"

	"github.com/miniapi/miniapi/api/encoding"
	"github.com/miniapi/miniapi/api/flowcontrol"
	"github.com/miniapi/miniapi/api/lifecycle"
	"github.com/miniapi/miniapi/api/request"
)

// WithFlowControl rejects requests beyond the limits, see MaxInFlight. It adds the FlowSchema and
// the priority level of a request to the headers of the response, and observes the request in their
// metrics. Long-running requests other than watches are not classified. With a nil classifier none
// is. terminated is called with each rejected request and the status code of its response.
func WithFlowControl(
	classifier *flowcontrol.Classifier, limits MaxInFlight, tracker *lifecycle.Tracker, terminated func(*http.Request, int),
) Filter {
	limiter := newLimiter(limits, tracker)
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			info := request.InfoFrom(r)
			class := classify(classifier, r, info)
			if class != nil {
				w.Header().Set("X-Kubernetes-PF-FlowSchema-UID", string(class.FlowSchema))
				w.Header().Set("X-Kubernetes-PF-PriorityLevel-UID", string(class.PriorityLevel))
			}
			slot, ok := limiter.acquire(r, info)
			if !ok {
				class.Reject()
				terminated(r, http.StatusTooManyRequests)
				encoding.WriteTooManyRequests(w)
				return
			}
			defer slot.release()
			execution := class.Begin(info.Verb)
			if info.Verb == "watch" {
				info.Initialized = sync.OnceFunc(execution.End)
				defer info.Initialized()
			} else {
				defer execution.End()
			}
			next.ServeHTTP(w, r)
		})
	}
}

// classify returns nil if the request is not classified.
func classify(classifier *flowcontrol.Classifier, r *http.Request, info *request.Info) *flowcontrol.Classification {
	if classifier == nil || info.IsLongRunning() && info.Verb != "watch" {
		return nil
	}
	return classifier.Classify(r)
}
