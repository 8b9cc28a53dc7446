package miniapitest

import "time"

// The bodies of the control API, which `miniapi host` documents.

type serverOptions struct {
	Name                    string          `json:"name,omitempty"`
	Lease                   string          `json:"lease,omitempty"`
	TLS                     bool            `json:"tls,omitempty"`
	Authorization           string          `json:"authorization,omitempty"`
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
