package pods

import "golang.org/x/sync/errgroup"

// InBatches calls do n times, first once, then in batches of twice the size, and the calls of a
// batch at the same time. It ends after the first batch with an error. A request that is always
// refused, such as by a quota, is thus not repeated for each pod.
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
