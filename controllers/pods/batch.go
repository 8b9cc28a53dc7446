package pods

import "golang.org/x/sync/errgroup"

// InBatches calls do n times: once, then in batches of doubling size. The calls of a batch run
// concurrently. It ends after the first batch with an error, so that a request that a quota
// rejects is not repeated for each pod.
func InBatches(n int, do func(i int) error) error {
	for began, size := 0, 1; began < n; began, size = began+size, 2*size {
		var batch errgroup.Group
		for i := began; i < min(began+size, n); i++ {
			batch.Go(func() error { return do(i) })
		}
		if err := batch.Wait(); err != nil {
			return err
		}
	}
	return nil
}
