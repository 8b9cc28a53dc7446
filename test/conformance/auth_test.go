package conformance

import (
	"strings"
	"testing"

	"k8s.io/client-go/rest"

	"github.com/miniapi/miniapi"
	"github.com/miniapi/miniapi/internal/bootstrap"
	"github.com/miniapi/miniapi/internal/servertest"
)

// TestReplayAuth replays the requests of users without rights. Steps that name no user were
// recorded as the administrator.
func TestReplayAuth(t *testing.T) {
	for _, release := range releases {
		t.Run(release, func(t *testing.T) { replayAuth(t, release) })
	}
}

func replayAuth(t *testing.T, release string) {
	server := servertest.Start(t, miniapi.Config{
		Bootstrap:       bootstrap.Full,
		Controllers:     []string{"-*"},
		Secure:          &miniapi.Secure{},
		Authorization:   miniapi.RBAC,
		EmulatedVersion: release,
	})
	known := readDifferences(t, release)
	r := &replay{t: t, url: server.URL(), etcd: server.EtcdClient()}
	admin, anonymous := servertest.HTTPClient(t, server.RESTConfig()), servertest.HTTPClient(t, rest.AnonymousClientConfig(server.RESTConfig()))
	r.client = admin
	r.namespace("x-auth")
	for _, s := range load(t, release, "auth") {
		r.client = admin
		if strings.HasPrefix(s.ID, "auth/rbac/anonymous ") || s.ReqHeader["Authorization"] != nil {
			r.client = anonymous
		}
		r.step(&s, known)
	}
	known.stale(t, "auth/", r.differing)
	known.write(t)
	t.Logf("%d as recorded, %d differ", r.same, len(r.differing))
}
