// Package filters holds the filters that every request passes before its handler, one per file,
// as in kube-apiserver's packages server/filters and endpoints/filters. The routes of package api
// chain them, outermost first:
//
//	WithAuditID            names the request
//	WithCacheControl       forbids clients to cache the response
//	WithRequestInfo        parses verb, resource and name                  500
//	WithRequestTracking    lets a shutdown wait for the request            503
//	WithRequestLog         logs and keeps a record of the request
//	WithMetrics            counts and measures the request
//	WithTracing            begins the span of the request
//	WithPanicRecovery      answers a panic                                 500
//	WithHostGuard          rejects requests that web pages send            403
//	WithAuthentication     determines the user                             401
//	WithAudit              writes the audit log
//	WithImpersonation      replaces the user by an impersonated user       400, 403
//	WithFlowControl        limits the requests in flight                   429
//	WithMemoryBudget       reserves memory for the request                 429
//	WithAuthorization      authorizes the request                          403
//	WithWarnings           sends the warnings that handlers record
//
// WithRequestTracking surrounds the request log and the metrics, so that both are complete when a
// shutdown returns. The deadline of a request follows from its verb; package api sets it.
package filters
