package etcd

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"k8s.io/apimachinery/pkg/util/version"
)

// oldestVersion is the oldest version of etcd that is supported. Versions before it may send a
// progress notification before an event of its revision, which a cache would lose:
// https://github.com/etcd-io/etcd/issues/17507. etcd 3.4 is not maintained any more.
const oldestVersion = "3.5.13"

// versionTimeout is the time limit for the versions of all members, some of which may be down.
const versionTimeout = 2 * time.Second

// CheckVersion returns an error of one line if a member of the client's cluster has a version of
// etcd that a Backend does not support. It ignores members that do not answer.
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
	var texts []string
	for _, err := range errs {
		if err != nil {
			texts = append(texts, err.Error())
		}
	}
	if texts == nil {
		return nil
	}
	return fmt.Errorf("%s: use etcd %s or later", strings.Join(texts, ", "), oldestVersion)
}

func checkVersion(text string) error {
	v, err := version.ParseSemantic(text)
	if err != nil {
		return fmt.Errorf("version %q: %w", text, err)
	}
	if v.LessThan(version.MustParseSemantic(oldestVersion)) {
		return fmt.Errorf("version %s is not supported", text)
	}
	return nil
}
