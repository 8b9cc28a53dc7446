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

// The versions of etcd from which on a progress notification never overtakes events:
// https://github.com/etcd-io/etcd/issues/17507. A cache would drop those events.
var (
	firstSafe34 = version.MustParseSemantic("3.4.31")
	first35     = version.MustParseSemantic("3.5.0")
	firstSafe35 = version.MustParseSemantic("3.5.13")
)

// versionTimeout is how long a member may take to answer: the others do not wait longer for one
// that is down.
const versionTimeout = 2 * time.Second

// CheckVersion returns an error if a member of the cluster behind client is of a version of etcd
// that a Backend must not be used with. A member that does not answer is left out.
func CheckVersion(ctx context.Context, client *clientv3.Client) error {
	ctx, cancel := context.WithTimeout(ctx, versionTimeout)
	defer cancel()
	endpoints := client.Endpoints()
	errs := make([]error, len(endpoints))
	var asking sync.WaitGroup
	for i, endpoint := range endpoints {
		asking.Go(func() {
			status, err := client.Status(ctx, endpoint)
			if err != nil {
				return
			}
			if err := checkVersion(status.Version); err != nil {
				errs[i] = fmt.Errorf("etcd at %s: %w", endpoint, err)
			}
		})
	}
	asking.Wait()
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
	return fmt.Errorf("version %s reports progress before events that belong to it: use %s, %s or later", text, firstSafe34, firstSafe35)
}
