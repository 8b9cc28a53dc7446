package filters

import (
	"context"
	"net/http"

	"github.com/miniapi/miniapi/api/encoding"
	"github.com/miniapi/miniapi/api/request"
	"github.com/miniapi/miniapi/registry"
)

// WithAuthorization rejects requests that the authorizer does not allow, whether the resource
// exists or not.
func WithAuthorization(authorizer registry.Authorizer, responder *encoding.Responder) Filter {
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			access := request.AuthorizationAttributes(r)
			decision, err := authorizer.Authorize(r.Context(), access)
			if request.InfoFrom(r).Audit != nil {
				annotateDecision(r.Context(), decision, err)
			}
			if err := access.Rejection(decision, err); err != nil {
				writeForbidden(w, r, responder, err)
				return
			}
			next.ServeHTTP(w, r)
		})
	}
}

// annotateDecision adds a decision to the audit log, with the keys and values of kube-apiserver.
func annotateDecision(ctx context.Context, decision registry.Decision, err error) {
	const decisionKey, reasonKey = "authorization.k8s.io/decision", "authorization.k8s.io/reason"
	switch {
	case decision.Allowed:
		registry.AddAuditAnnotation(ctx, decisionKey, "allow")
	case err != nil:
		registry.AddAuditAnnotation(ctx, reasonKey, "internal error")
		return
	default:
		registry.AddAuditAnnotation(ctx, decisionKey, "forbid")
	}
	registry.AddAuditAnnotation(ctx, reasonKey, decision.Reason)
}

// writeForbidden sends the error of a request that is not allowed, with the header of
// kube-apiserver.
func writeForbidden(w http.ResponseWriter, r *http.Request, responder *encoding.Responder, err error) {
	w.Header().Set("X-Content-Type-Options", "nosniff")
	responder.WriteError(w, r, err)
}
