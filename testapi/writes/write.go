package writes

import "time"

// Write is a committed write of a client.
type Write struct {
	// Revision is the revision of the write.
	Revision int64     `json:"revision"`
	Time     time.Time `json:"time"`
	// Event is Created, Updated or Deleted.
	Event string `json:"event"`
	// Resource is the resource as RBAC names it, such as deployments.apps.
	Resource    string `json:"resource"`
	Subresource string `json:"subresource,omitempty"`
	Namespace   string `json:"namespace,omitempty"`
	Name        string `json:"name"`
	// GenerateName is the prefix of the generated name of a created object, and Owner the kind and
	// the name of its controller, or else of its first owner, such as ReplicaSet/web.
	GenerateName string `json:"generateName,omitempty"`
	Owner        string `json:"owner,omitempty"`
	// Verb is the verb of authorization, or apply for a server-side apply.
	Verb string `json:"verb"`
	// ResourceVersion is the resourceVersion that the client sent, "" for none.
	ResourceVersion string `json:"resourceVersion,omitempty"`
	Client
	// RequestID is the header Audit-Id of the request.
	RequestID string `json:"requestID,omitempty"`
	// Lost are the changes of other clients that the write has undone.
	Lost []Change `json:"lost,omitempty"`
}

// Client is the client of a write.
type Client struct {
	User         string `json:"user"`
	UserAgent    string `json:"userAgent,omitempty"`
	FieldManager string `json:"fieldManager,omitempty"`
}

// Change is the change of a field.
type Change struct {
	// Field is the path of the field, such as .metadata.labels.version.
	Field string `json:"field"`
	// Revision is the revision of the change.
	Revision int64 `json:"revision"`
	// By is the client that has made the change.
	By Client `json:"by"`
}

// Filter selects writes.
type Filter struct {
	// User is the name of the user.
	User string
	// After is the revision after which the writes were made.
	After int64
}
