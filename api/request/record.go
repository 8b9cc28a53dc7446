package request

import (
	"context"
	"net/http"
	"time"
)

// Record describes a request and its response. While the request is handled, only the goroutine of
// the request may use the record; afterwards it does not change. The Set methods do nothing on a
// nil Record, which stands for a request that is not recorded.
type Record struct {
	// Time is the arrival of the request.
	Time time.Time `json:"time"`
	// Duration is the time until the response was complete.
	Duration time.Duration `json:"durationNanoseconds"`
	// AuditID is the header Audit-Id of the request, or else of the response.
	AuditID string `json:"auditID"`
	Method  string `json:"method"`
	// URI is the path and the query as the client sent them.
	URI       string `json:"uri"`
	UserAgent string `json:"userAgent,omitempty"`
	// User is the authenticated user; empty if the authentication failed.
	User             string `json:"user,omitempty"`
	ImpersonatedUser string `json:"impersonatedUser,omitempty"`

	// Verb is the verb of authorization, such as list or patch.
	Verb        string `json:"verb"`
	Group       string `json:"group,omitempty"`
	Version     string `json:"version,omitempty"`
	Resource    string `json:"resource,omitempty"` // empty for a path that names no resource
	Subresource string `json:"subresource,omitempty"`
	Namespace   string `json:"namespace,omitempty"`
	// Name is the name of the object; of a created object with a generated name, that name.
	Name string `json:"name,omitempty"`

	// ResourceVersion is the resourceVersion that the client sent: in the object, the patch or the
	// preconditions of a write, or in the query of a read.
	ResourceVersion string `json:"resourceVersion,omitempty"`
	// Revision is the resourceVersion in the response: of the object after a write, of the object
	// or list that was read, or of the deletion. 0: none.
	Revision int64 `json:"revision,omitempty"`
	// Code is the HTTP status code; 0 if the connection was closed without a response.
	Code int `json:"code"`
	// Reason is the reason of the Status that the client received, or of the error that ended a
	// watch.
	Reason string `json:"reason,omitempty"`
}

// NewRecord returns the record of a request that arrives now.
func NewRecord(r *http.Request, info *Info) *Record {
	record := &Record{
		Time: time.Now(), Method: r.Method, URI: r.RequestURI, UserAgent: r.UserAgent(), Verb: info.Verb,
	}
	if info.Form == ResourcePath {
		record.Group, record.Version, record.Resource = info.Group, info.Version, info.Resource
		record.Subresource, record.Name = info.Subresource, info.Name
		if info.InNamespace {
			record.Namespace = info.Namespace
		}
	}
	return record
}

// RecordFrom returns the record of the request with this context, nil if it is not recorded.
func RecordFrom(ctx context.Context) *Record {
	if info, ok := ctx.Value(infoKey{}).(*Info); ok {
		return info.Record
	}
	return nil
}

// GroupResource returns the resource as kubectl and RBAC name it, such as deployments.apps/status;
// "" for a path that names no resource.
func (r *Record) GroupResource() string {
	name := r.Resource
	if r.Group != "" && name != "" {
		name += "." + r.Group
	}
	if r.Subresource != "" {
		name += "/" + r.Subresource
	}
	return name
}

// NamespacedName returns namespace/name; for a collection in a namespace, the namespace and a
// slash.
func (r *Record) NamespacedName() string {
	if r.Namespace == "" {
		return r.Name
	}
	return r.Namespace + "/" + r.Name
}

// SetUser sets the authenticated user.
func (r *Record) SetUser(name string) {
	if r != nil {
		r.User = name
	}
}

// SetImpersonatedUser sets the user that the authenticated user acts as.
func (r *Record) SetImpersonatedUser(name string) {
	if r != nil {
		r.ImpersonatedUser = name
	}
}

// SetName sets the name of the object, if it is not part of the path.
func (r *Record) SetName(name string) {
	if r != nil && name != "" {
		r.Name = name
	}
}

// SetResourceVersion sets the resourceVersion that the client sent.
func (r *Record) SetResourceVersion(version string) {
	if r != nil {
		r.ResourceVersion = version
	}
}

// SetRevision sets the resourceVersion in the response.
func (r *Record) SetRevision(revision int64) {
	if r != nil {
		r.Revision = revision
	}
}

// SetReason sets the reason of the response's Status.
func (r *Record) SetReason(reason string) {
	if r != nil {
		r.Reason = reason
	}
}
