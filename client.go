package miniapi

import (
	"cmp"
	"context"
	"net/url"

	clientv3 "go.etcd.io/etcd/client/v3"
	"k8s.io/client-go/rest"

	"github.com/miniapi/miniapi/api/lifecycle"
	"github.com/miniapi/miniapi/api/request"
	"github.com/miniapi/miniapi/internal/kubeconfig"
	"github.com/miniapi/miniapi/internal/manifests"
	"github.com/miniapi/miniapi/testapi/conflicts"
	"github.com/miniapi/miniapi/testapi/writes"
	"github.com/miniapi/miniapi/ui"
)

// URL returns the address of the server, such as http://127.0.0.1:8080, or with Config.Secure
// https://127.0.0.1:6443.
func (s *Server) URL() string { return s.listener.URL() }

// PlainURL returns the address of the plain HTTP port, "" if there is none.
func (s *Server) PlainURL() string { return s.listener.PlainURL() }

// PageURL returns the address of the page for browsers, "" without Config.UI. Over HTTPS the page
// requires a bearer token, for example the one of RESTConfig, which it takes from the fragment
// #token=TOKEN.
func (s *Server) PageURL() string {
	if !s.config.UI {
		return ""
	}
	return cmp.Or(s.PlainURL(), s.URL()) + ui.Path + "/"
}

// RESTConfig returns a client-go config of the administrator. It has no rate limit, since a test
// does not share its server.
func (s *Server) RESTConfig() *rest.Config {
	config := s.baseConfig()
	if s.identity.serving != nil {
		config.BearerToken = s.identity.credentials.AdminToken()
	}
	return config
}

// AddUser returns a client-go config of a user who is a member of groups and of
// system:authenticated. With Config.Secure it has a client certificate; over plain HTTP, where
// every client is the administrator, it impersonates the user.
func (s *Server) AddUser(name string, groups ...string) (*rest.Config, error) {
	config := s.baseConfig()
	if s.identity.serving == nil {
		config.Impersonate = rest.ImpersonationConfig{UserName: name, Groups: groups}
		return config, nil
	}
	pair, err := s.identity.authority.IssueClient(name, groups...)
	if err != nil {
		return nil, err
	}
	config.CertData, config.KeyData = pair.Certificate, pair.Key
	return config, nil
}

// baseConfig returns a config without credentials.
func (s *Server) baseConfig() *rest.Config {
	config := &rest.Config{Host: s.URL(), QPS: -1}
	if serving := s.identity.serving; serving != nil {
		certificate := serving.certificate.Get()
		config.CAData = certificate.Certificate
		if u, err := url.Parse(config.Host); err == nil {
			config.ServerName = certificate.ServerName(u.Hostname())
		}
	}
	return config
}

// Kubeconfig returns the kubeconfig of the administrator in YAML.
func (s *Server) Kubeconfig() ([]byte, error) { return kubeconfig.Encode(s.RESTConfig()) }

// InstallCRDs creates or updates the CustomResourceDefinitions in files and folders, and returns
// when all are served. A file holds JSON, or YAML with any number of documents. In a folder, files
// with the extensions .yaml, .yml and .json are read; its subfolders are not. Other kinds of
// objects are ignored. A path without definitions is an error. The error names the file and the
// object of each failure.
func (s *Server) InstallCRDs(ctx context.Context, paths ...string) error {
	return manifests.InstallCRDs(ctx, s.RESTConfig(), paths...)
}

// FrontProxyCA returns, in PEM, the CA of the client certificate that this server presents to the
// servers of APIServices. Such a server trusts the headers X-Remote-User, X-Remote-Group and
// X-Remote-Extra-* of clients with a certificate of this CA (--requestheader-client-ca-file).
func (s *Server) FrontProxyCA() ([]byte, error) { return s.identity.frontProxy.CA() }

// EtcdClient returns the client of the etcd behind the server, for reading keys and revisions. Stop
// closes it.
func (s *Server) EtcdClient() *clientv3.Client { return s.datastore.Client() }

// EtcdClientURLs returns the addresses at which the embedded etcd serves etcdctl.
func (s *Server) EtcdClientURLs() []string { return s.datastore.ClientURLs() }

// OpenRequest is a request whose response is not complete.
type OpenRequest = lifecycle.OpenRequest

// OpenRequests returns the requests in progress, watches included, in order of arrival. At the end
// of a test they belong to clients that were not stopped.
func (s *Server) OpenRequests() []OpenRequest { return s.api.OpenRequests() }

// Conflict is a write that was answered with a conflict, and its explanation.
type Conflict = conflicts.Conflict

// Conflicts returns the last 512 conflicts, the oldest first: an object of the resource
// conflicts.miniapi.dev for each. It returns none without Config.TestAPIs.
func (s *Server) Conflicts() []Conflict { return s.testAPIs.Conflicts() }

// Write is a committed write of a client, with the changes of other clients that it has undone.
type Write = writes.Write

// WriteFilter selects writes.
type WriteFilter = writes.Filter

// Writes returns the committed writes of a user, in the order of revisions. The last 8,192 writes
// to the server are known. It returns none without Config.TestAPIs.
func (s *Server) Writes(ctx context.Context, filter WriteFilter) ([]Write, error) {
	return s.testAPIs.Writes(ctx, s.catalog.Snapshot(), filter)
}

// Request describes a request and its response.
type Request = request.Record

// Requests returns the last requests that ended, as many as Config.RecentRequests, the latest last.
// Requests in progress are not among them.
func (s *Server) Requests() []Request { return s.api.RecentRequests() }

// AwaitIdle returns nil as soon as no request is open, or the error of ctx. The server notices with
// a short delay that a client has closed its connection.
func (s *Server) AwaitIdle(ctx context.Context) error { return s.api.AwaitIdle(ctx) }
