package miniapitest

import "time"

// The bodies of the control API, which `miniapi host` documents.

type serverOptions struct {
	Name                    string          `json:"name,omitempty"`
	Lease                   string          `json:"lease,omitempty"`
	PID                     int             `json:"pid,omitempty"`
	Fork                    string          `json:"fork,omitempty"`
	Address                 string          `json:"address,omitempty"`
	TLS                     bool            `json:"tls,omitempty"`
	Authorization           string          `json:"authorization,omitempty"`
	DataDir                 string          `json:"dataDir,omitempty"`
	CRDs                    []string        `json:"crds,omitempty"`
	Manifests               string          `json:"manifests,omitempty"`
	EmulatedVersion         string          `json:"emulatedVersion,omitempty"`
	FeatureGates            map[string]bool `json:"featureGates,omitempty"`
	Bootstrap               string          `json:"bootstrap,omitempty"`
	EnableAdmissionPlugins  []string        `json:"enableAdmissionPlugins,omitempty"`
	DisableAdmissionPlugins []string        `json:"disableAdmissionPlugins,omitempty"`
	ServiceClusterIPRange   string          `json:"serviceClusterIPRange,omitempty"`
	ServiceNodePortRange    string          `json:"serviceNodePortRange,omitempty"`
	LogLevel                string          `json:"logLevel,omitempty"`
	Controllers             []string        `json:"controllers,omitempty"`
	Pods                    string          `json:"pods,omitempty"`
	LogRequests             bool            `json:"logRequests,omitempty"`
	KeepRequests            int             `json:"keepRequests,omitempty"`
	DisableTestAPIs         bool            `json:"disableTestAPIs,omitempty"`
	FrozenAt                *time.Time      `json:"frozenAt,omitempty"`
}

type serverDescription struct {
	ID           string `json:"id"`
	URL          string `json:"url"`
	CA           string `json:"ca"`
	ServerName   string `json:"serverName"`
	Token        string `json:"token"`
	FrontProxyCA string `json:"frontProxyCA"`
	Kubeconfig   string `json:"kubeconfig"`
}

type userOptions struct {
	Name   string   `json:"name"`
	Groups []string `json:"groups,omitempty"`
}

type userDescription struct {
	Certificate string `json:"certificate"`
	Key         string `json:"key"`
}

type crdOptions struct {
	Paths []string `json:"paths"`
}

type event struct {
	Server  *serverDescription `json:"server"`
	Log     string             `json:"log"`
	Stopped *struct {
		Error string `json:"error"`
	} `json:"stopped"`
}

// ResetOptions are the options of Server.Reset.
type ResetOptions struct {
	// KeepCRDs keeps the CustomResourceDefinitions that are installed now. Their objects are
	// deleted. CustomResourceDefinitions of Options.CRDs are always kept.
	KeepCRDs bool `json:"keepCRDs,omitempty"`
}

type snapshotDescription struct {
	ID string `json:"id"`
}

type keptServer struct {
	Kubeconfig  string `json:"kubeconfig"`
	IdleTimeout string `json:"idleTimeout"`
}

type objectNames struct {
	Resource string   `json:"resource"`
	Names    []string `json:"names"`
}

// Request is a request that has been answered, and its answer.
type Request struct {
	// Time is the arrival of the request, Duration the time until the response was complete.
	Time     time.Time     `json:"time"`
	Duration time.Duration `json:"durationNanoseconds"`
	// AuditID is the header Audit-Id of the request, or else of the response.
	AuditID string `json:"auditID"`
	Method  string `json:"method"`
	// URI is the path and the query as the client sent them.
	URI              string `json:"uri"`
	UserAgent        string `json:"userAgent"`
	User             string `json:"user"`
	ImpersonatedUser string `json:"impersonatedUser"`
	// Verb is the verb for authorization, such as watch, list or create.
	Verb        string `json:"verb"`
	Group       string `json:"group"`
	Version     string `json:"version"`
	Resource    string `json:"resource"` // empty for a path that names no resource
	Subresource string `json:"subresource"`
	Namespace   string `json:"namespace"`
	Name        string `json:"name"`
	// ResourceVersion is the resourceVersion that the client sent.
	ResourceVersion string `json:"resourceVersion"`
	// Revision is the resourceVersion in the response: of the object after a write, of the object
	// or list that was read, or of the deletion. 0: none.
	Revision int64 `json:"revision"`
	// Code is the HTTP status code; 0 if the connection was closed without a response.
	Code int `json:"code"`
	// Reason is the reason of the Status that the client received.
	Reason string `json:"reason"`
}

// Conflict is a write that was answered with a conflict, and its explanation: an object of the
// resource conflicts.miniapi.dev.
type Conflict struct {
	Name   string         `json:"name"`
	Time   time.Time      `json:"time"`
	Object ConflictObject `json:"object"`
	// Base is the revision that the rejected write is based on, Current the stored one.
	Base    int64 `json:"base"`
	Current int64 `json:"current"`
	// Loser made the rejected write, Winner the write that came first. Between are all writes that
	// came first, the oldest first.
	Loser   ConflictWrite   `json:"loser"`
	Winner  ConflictWrite   `json:"winner"`
	Between []ConflictWrite `json:"between"`
	// Clashing are the fields that both sides changed, such as .metadata.labels.version.
	Clashing []string `json:"clashing"`
	// Explanation is the conflict in one sentence.
	Explanation string `json:"explanation"`
	// Attempt is the number of the try that lost. Retried is set if the loser tried again.
	Attempt int  `json:"attempt"`
	Retried bool `json:"retried"`
	// SucceededAfter is the number of tries after which the loser succeeded, 0 if it has not.
	SucceededAfter int `json:"succeededAfter"`
}

// ConflictObject names the object of a conflict.
type ConflictObject struct {
	// Resource is the resource as RBAC names it, such as deployments.apps.
	Resource    string `json:"resource"`
	Namespace   string `json:"namespace"`
	Name        string `json:"name"`
	Subresource string `json:"subresource"`
}

// ConflictWrite is a write and who made it.
type ConflictWrite struct {
	// Revision is the revision that the write made, 0 for a rejected write.
	Revision     int64  `json:"revision"`
	Verb         string `json:"verb"`
	User         string `json:"user"`
	UserAgent    string `json:"userAgent"`
	FieldManager string `json:"fieldManager"`
	// RequestID is the header Audit-Id of the request.
	RequestID string `json:"requestID"`
	// Fields are the fields that the write changed.
	Fields []string `json:"fields"`
}

// Write is a committed write of a client.
type Write struct {
	// Revision is the revision of the write.
	Revision int64     `json:"revision"`
	Time     time.Time `json:"time"`
	// Event is Created, Updated or Deleted.
	Event string `json:"event"`
	// Resource is the resource as RBAC names it, such as deployments.apps.
	Resource    string `json:"resource"`
	Subresource string `json:"subresource"`
	Namespace   string `json:"namespace"`
	Name        string `json:"name"`
	// GenerateName is the prefix of the generated name of a created object, and Owner the kind and
	// the name of its controller, or else of its first owner, such as ReplicaSet/web.
	GenerateName string `json:"generateName"`
	Owner        string `json:"owner"`
	// Verb is the verb of authorization, or apply for a server-side apply.
	Verb string `json:"verb"`
	// ResourceVersion is the resourceVersion that the client sent, "" for none.
	ResourceVersion string `json:"resourceVersion"`
	User            string `json:"user"`
	UserAgent       string `json:"userAgent"`
	FieldManager    string `json:"fieldManager"`
	// RequestID is the header Audit-Id of the request.
	RequestID string `json:"requestID"`
	// Lost are the changes of other clients that the write has undone: it had no resourceVersion,
	// and gave a field a value that the field had before the last change.
	Lost []LostChange `json:"lost"`
}

// LostChange is a change of a field that a later write has undone.
type LostChange struct {
	// Field is the path of the field, such as .metadata.labels.version.
	Field string `json:"field"`
	// Revision is the revision of the change.
	Revision int64 `json:"revision"`
	By       struct {
		User      string `json:"user"`
		UserAgent string `json:"userAgent"`
	} `json:"by"`
}

// OpenRequest is a request that has not been answered to its end, such as a watch.
type OpenRequest struct {
	// Verb is the verb for authorization, such as watch, list or create.
	Verb   string `json:"verb"`
	Method string `json:"method"`
	// URI is the path and the query as the client sent them.
	URI       string    `json:"uri"`
	UserAgent string    `json:"userAgent"`
	Since     time.Time `json:"since"`
}
