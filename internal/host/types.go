package host

import (
	"time"

	"github.com/miniapi/miniapi"
	"github.com/miniapi/miniapi/testapi/faults"
)

// Info is the answer of GET /v1.
type Info struct {
	Version           string `json:"version"`
	KubernetesVersion string `json:"kubernetesVersion"`
	PID               int    `json:"pid"`
}

// Leases of a server.
const (
	LeaseConnection = "connection"
	LeasePID        = "pid"
)

// ServerOptions is the body of POST /v1/servers. The zero value starts a server on a free
// loopback port, over plain HTTP, where a request without a token is the administrator's.
type ServerOptions struct {
	// Name appears in lists and messages, for example the name of a test.
	Name string `json:"name,omitempty"`
	// Lease is LeaseConnection, LeasePID or empty.
	Lease string `json:"lease,omitempty"`
	// PID is the process of LeasePID.
	PID int `json:"pid,omitempty"`
	// Fork is the ID of a server whose objects and options the new server begins with. Only Name,
	// Lease, PID, LogLevel and LogRequests can be set beside it.
	Fork string `json:"fork,omitempty"`

	// Address is the HOST:PORT on loopback at which the server listens, for example the address of
	// a server that has ended. Default: a free port. A fork does not inherit it.
	Address string `json:"address,omitempty"`
	// TLS serves HTTPS to clients with credentials instead of plain HTTP.
	TLS bool `json:"tls,omitempty"`
	// Authorization is AlwaysAllow (the default) or RBAC.
	Authorization string `json:"authorization,omitempty"`
	// Users are added before the answer.
	Users []UserOptions `json:"users,omitempty"`

	// DataDir is the absolute path of a directory that keeps the objects, the keys and the
	// certificates after the end of the server. Default: a temporary directory.
	DataDir string `json:"dataDir,omitempty"`
	// CRDs are absolute paths of files and folders of CustomResourceDefinitions.
	CRDs []string `json:"crds,omitempty"`
	// Manifests is the absolute path of a folder of objects to apply.
	Manifests string `json:"manifests,omitempty"`
	// EmulatedVersion is the Kubernetes release whose API is served, such as 1.36. Default: 1.37.
	EmulatedVersion string `json:"emulatedVersion,omitempty"`
	// FeatureGates enables and disables feature gates of kube-apiserver.
	FeatureGates map[string]bool `json:"featureGates,omitempty"`
	// Bootstrap is minimal (the default) or full.
	Bootstrap string `json:"bootstrap,omitempty"`

	EnableAdmissionPlugins  []string `json:"enableAdmissionPlugins,omitempty"`
	DisableAdmissionPlugins []string `json:"disableAdmissionPlugins,omitempty"`
	// Controllers lists the built-in controllers to run, in the syntax of --controllers. Empty:
	// "*", the controllers that are on by default.
	Controllers []string `json:"controllers,omitempty"`
	// Pods is manual (the default) or instant.
	Pods                  string `json:"pods,omitempty"`
	ServiceClusterIPRange string `json:"serviceClusterIPRange,omitempty"`
	ServiceNodePortRange  string `json:"serviceNodePortRange,omitempty"`

	// DisableTestAPIs switches off the group miniapi.dev and explained conflicts.
	DisableTestAPIs bool `json:"disableTestAPIs,omitempty"`
	// FrozenAt is the time of the API at the start, in RFC 3339. It stands still until it is
	// advanced. Default: the time of the machine.
	FrozenAt *time.Time `json:"frozenAt,omitempty"`
	// Faults are injected into requests, see docs/faults.md.
	Faults []faults.Fault `json:"faults,omitempty"`

	// LogLevel is the lowest level that is logged: debug, info, warn (the default) or error.
	LogLevel string `json:"logLevel,omitempty"`
	// LogRequests logs a line for each request, at any level. With the level debug, requests are
	// always logged.
	LogRequests bool `json:"logRequests,omitempty"`
	// KeepRequests is the number of requests that GET /v1/servers/{id}/requests returns at most.
	// Default: 50.
	KeepRequests int `json:"keepRequests,omitempty"`
}

// Server describes a server that answers requests.
type Server struct {
	ID      string    `json:"id"`
	Name    string    `json:"name,omitempty"`
	Created time.Time `json:"created"`
	// URL is where clients reach the server.
	URL string `json:"url"`
	// CA is the certificate authority of URL in PEM, and ServerName the name to check its
	// certificate for; both are empty without TLS.
	CA         string `json:"ca,omitempty"`
	ServerName string `json:"serverName,omitempty"`
	// Token is the bearer token of the administrator; empty without TLS.
	Token string `json:"token,omitempty"`
	// FrontProxyCA is the certificate authority, in PEM, of requests to aggregated API servers.
	FrontProxyCA string `json:"frontProxyCA,omitempty"`
	// Kubeconfig is the kubeconfig of the administrator, in YAML.
	Kubeconfig string `json:"kubeconfig"`
	Users      []User `json:"users,omitempty"`
}

// UserOptions is the body of POST /v1/servers/{id}/users.
type UserOptions struct {
	Name   string   `json:"name"`
	Groups []string `json:"groups,omitempty"`
}

// User has the credentials of a user. With TLS it is a client certificate. Over plain HTTP,
// where every client is the administrator, a client impersonates the user.
type User struct {
	Name        string   `json:"name"`
	Groups      []string `json:"groups,omitempty"`
	Certificate string   `json:"certificate,omitempty"` // PEM
	Key         string   `json:"key,omitempty"`         // PEM
	Kubeconfig  string   `json:"kubeconfig"`
}

// CRDOptions is the body of POST /v1/servers/{id}/crds.
type CRDOptions struct {
	// Paths are absolute paths of files and folders.
	Paths []string `json:"paths"`
}

// ResetOptions is the body of POST /v1/servers/{id}/reset.
type ResetOptions struct {
	// KeepCRDs keeps the CustomResourceDefinitions that are installed now.
	KeepCRDs bool `json:"keepCRDs,omitempty"`
}

// Snapshot is the answer of POST /v1/servers/{id}/snapshots.
type Snapshot struct {
	// ID identifies the snapshot among the snapshots of the server.
	ID string `json:"id"`
}

// Kept is the answer of POST /v1/servers/{id}/keep.
type Kept struct {
	// Kubeconfig is the path of a file with the kubeconfig of the administrator. It is removed
	// with the server.
	Kubeconfig string `json:"kubeconfig"`
	// IdleTimeout is the time without requests after which the server ends, such as 30m0s.
	IdleTimeout string `json:"idleTimeout"`
}

// OpenRequest is a request that is not answered yet, such as a watch.
type OpenRequest struct {
	Verb      string    `json:"verb"`
	Method    string    `json:"method"`
	URI       string    `json:"uri"`
	UserAgent string    `json:"userAgent"`
	Since     time.Time `json:"since"`
}

// Conflict is a write that was answered with a conflict: an object of conflicts.miniapi.dev.
type Conflict struct {
	Name string    `json:"name"`
	Time time.Time `json:"time"`
	miniapi.Conflict
}

// Event is a line of the stream that a server with LeaseConnection is answered with. Exactly one
// field is set.
type Event struct {
	Server *Server `json:"server,omitempty"`
	// Log is a line of the server's log.
	Log string `json:"log,omitempty"`
	// Stopped is the last event.
	Stopped *Stopped `json:"stopped,omitempty"`
}

// Stopped says how a server ended.
type Stopped struct {
	// Error is empty if the server ended without an error.
	Error string `json:"error,omitempty"`
}

// Error is the body of an answer with an error code.
type Error struct {
	Error string `json:"error"`
}
