package etcd

import (
	"context"
	"sync"

	clientv3 "go.etcd.io/etcd/client/v3"
)

// endpoints returns the endpoints of a client. The endpoint of an etcd in this process is "".
func endpoints(client *clientv3.Client) []string {
	if list := client.Endpoints(); len(list) > 0 {
		return list
	}
	return []string{""}
}

// readStatuses reads the status of all members at the same time, so that a member that does not
// answer delays no other. It calls use for each answer, with the index of the member and never
// concurrently. If use returns true, the answers of the other members are not awaited.
func readStatuses(ctx context.Context, client *clientv3.Client, use func(member int, status *clientv3.StatusResponse) (enough bool)) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var mu sync.Mutex          // serializes the calls of use
	var members sync.WaitGroup // owned by this call
	for i, endpoint := range endpoints(client) {
		members.Go(func() {
			status, err := client.Status(ctx, endpoint)
			mu.Lock()
			defer mu.Unlock()
			if err == nil && use(i, status) {
				cancel()
			}
		})
	}
	members.Wait()
}
