package etcd

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"k8s.io/apimachinery/pkg/util/version"
)

// The first versions of etcd that never send a progress notification before an event of its
// revision: https://github.com/etcd-io/etcd/issues/17507. A cache would lose such an event.
var (
	firstSafe34 = version.MustParseSemantic("3.4.31")
	first35     = version.MustParseSemantic("3.5.0")
	firstSafe35 = version.MustParseSemantic("3.5.13")
)

// versionTimeout is the time limit for the versions of all members, some of which may be down.
const versionTimeout = 2 * time.Second

// CheckVersion returns an error if a member of the client's cluster has a version of etcd that a
// Backend does not support. It ignores members that do not answer.
func CheckVersion(ctx context.Context, client *clientv3.Client) error {
	ctx, cancel := context.WithTimeout(ctx, versionTimeout)
	defer cancel()
	endpoints := client.Endpoints()
	errs := make([]error, len(endpoints))
	var requests sync.WaitGroup
	for i, endpoint := range endpoints {
		requests.Go(func() {
			status, err := client.Status(ctx, endpoint)
			if err != nil {
				return
			}
			if err := checkVersion(status.Version); err != nil {
				errs[i] = fmt.Errorf("etcd at %s: %w", endpoint, err)
			}
		})
	}
	requests.Wait()
	return errors.Join(errs...)
}

func checkVersion(text string) error {
	v, err := version.ParseSemantic(text)
	if err != nil {
		return fmt.Errorf("version %q: %w", text, err)
	}
	if v.AtLeast(firstSafe35) || v.AtLeast(firstSafe34) && v.LessThan(first35) {
		return nil
	}
	return fmt.Errorf("version %s may report progress before events of that revision: use %s, %s or later", text, firstSafe34, firstSafe35)
}
