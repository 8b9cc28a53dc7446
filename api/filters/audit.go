package filters

import (
	"fmt"
	"net/http"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/miniapi/miniapi/api/audit"
	"github.com/miniapi/miniapi/api/request"
	"github.com/miniapi/miniapi/registry"
)

// WithAudit writes the events of each request to the audit log, at the stages of kube-apiserver.
// Later filters and handlers complete the event, which request.AuditFrom returns. It does nothing
// if log is nil.
func WithAudit(log *audit.Log) Filter {
	return func(next http.Handler) http.Handler {
		if log == nil {
			return next
		}
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			event, r := beginAudit(log, w, r)
			if event == nil {
				next.ServeHTTP(w, r)
				return
			}
			event.Stage(audit.RequestReceived)
			longRunning := request.InfoFrom(r).IsLongRunning()
			defer func() { endAudit(event, longRunning, recover()) }()
			next.ServeHTTP(auditedResponse(w, event, longRunning), r)
		})
	}
}

// WithAuditAnnotations collects the annotations that filters before WithAudit, such as the
// authentication, add to its events.
func WithAuditAnnotations(log *audit.Log) Filter {
	return func(next http.Handler) http.Handler {
		if log == nil {
			return next
		}
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			ctx, _ := registry.WithAuditAnnotations(r.Context())
			next.ServeHTTP(w, r.WithContext(ctx))
		})
	}
}

// WithFailedAuthenticationAudit wraps the handler of requests that are not authenticated. As in
// kube-apiserver, such a request has one event, at the stage ResponseStarted.
func WithFailedAuthenticationAudit(log *audit.Log, failed http.Handler) http.Handler {
	if log == nil {
		return failed
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		event, r := beginAudit(log, w, r)
		if event != nil {
			event.SetStatus(metav1.Status{Message: attemptedAuthentication(r)})
			w = auditedResponse(w, event, false)
		}
		failed.ServeHTTP(w, r)
		event.Stage(audit.ResponseStarted)
	})
}

// beginAudit returns the event of a request, nil if the policy excludes the request, and the
// request with a context that collects annotations.
func beginAudit(log *audit.Log, w http.ResponseWriter, r *http.Request) (*audit.Event, *http.Request) {
	info, received := request.InfoFrom(r), time.Now()
	if info.Record != nil {
		received = info.Record.Time
	}
	ctx, annotations := r.Context(), registry.AuditAnnotationsFrom(r.Context())
	if annotations == nil {
		ctx, annotations = registry.WithAuditAnnotations(ctx)
	}
	event := log.Begin(audit.Request{
		Request: r, AuditID: w.Header().Get(AuditIDHeader), Received: received,
		Access: request.AuthorizationAttributes(r), Annotations: annotations,
	})
	if event == nil {
		return nil, r
	}
	info.Audit = event
	return event, r.WithContext(ctx)
}

// auditedResponse records the code of the response. If started is set, it writes the event when the
// header is sent.
func auditedResponse(w http.ResponseWriter, event *audit.Event, started bool) http.ResponseWriter {
	return &Recorder{ResponseWriter: w, beforeHeader: func(status int, _ http.Header) {
		event.SetCode(status)
		if started {
			event.Stage(audit.ResponseStarted)
		}
	}}
}

// endAudit writes the last event of a request. It repeats a panic.
func endAudit(event *audit.Event, longRunning bool, panicked any) {
	if panicked != nil {
		event.SetStatus(metav1.Status{
			Code: http.StatusInternalServerError, Status: metav1.StatusFailure, Reason: metav1.StatusReasonInternalError,
			Message: fmt.Sprintf("APIServer panic'd: %v", panicValue(panicked)), // the text of kube-apiserver
		})
		event.Stage(audit.Panic)
		panic(panicked)
	}
	if !event.Answered() {
		event.SetStatus(metav1.Status{Code: http.StatusOK, Status: metav1.StatusSuccess, Message: "Connection closed early"})
		if longRunning {
			event.Stage(audit.ResponseStarted)
		}
	}
	event.Stage(audit.ResponseComplete)
}

// panicValue returns the value of a panic of any goroutine.
func panicValue(panicked any) any {
	if p, ok := panicked.(*Panic); ok {
		return p.value
	}
	return panicked
}

// attemptedAuthentication returns the text of kube-apiserver about the credentials in a request.
func attemptedAuthentication(r *http.Request) string {
	var methods []string
	if _, _, ok := r.BasicAuth(); ok {
		methods = append(methods, "basic")
	}
	scheme, _, ok := strings.Cut(strings.TrimSpace(r.Header.Get("Authorization")), " ")
	if ok && strings.EqualFold(scheme, "bearer") {
		methods = append(methods, "bearer")
	}
	if strings.TrimSpace(r.URL.Query().Get("access_token")) != "" {
		methods = append(methods, "access_token")
	}
	if r.TLS != nil && len(r.TLS.PeerCertificates) > 0 {
		methods = append(methods, "x509")
	}
	if len(methods) == 0 {
		return "Authentication failed, no credentials provided"
	}
	return "Authentication failed, attempted: " + strings.Join(methods, ", ")
}
