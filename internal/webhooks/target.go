package webhooks

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"strconv"
)

// Target is the location of a webhook.
type Target struct {
	URL      *string
	Service  *Service // instead of URL
	Path     string   // of the Service
	CABundle []byte   // empty: the system CAs
}

// Service is a reference to a port of a Service.
type Service struct {
	Namespace, Name string
	Port            int32
}

// ResolveFunc returns the host:port of a Service.
type ResolveFunc func(ctx context.Context, service Service) (address string, err error)

// endpoint identifies webhooks that can share connections.
type endpoint struct {
	scheme  string
	host    string // with a port, if there is one
	name    string // server name in the certificate
	roots   string // CA bundle; "": the system CAs
	service Service
}

// endpoint returns the endpoint and the path of the webhook.
func (t Target) endpoint() (endpoint, string, error) {
	to := endpoint{scheme: "https", roots: string(bytes.TrimSpace(t.CABundle))}
	if t.Service != nil {
		to.service = *t.Service
		to.name = t.Service.Name + "." + t.Service.Namespace + ".svc"
		to.host = net.JoinHostPort(to.name, strconv.Itoa(int(t.Service.Port)))
		return to, t.Path, nil
	}
	if t.URL == nil {
		return to, "", errors.New("webhook configuration must have either service or URL")
	}
	u, err := url.Parse(*t.URL)
	if err != nil {
		return to, "", fmt.Errorf("Unparsable URL: %v", err) // text of kube-apiserver
	}
	to.scheme, to.host, to.name = u.Scheme, u.Host, u.Hostname()
	return to, u.Path, nil
}
