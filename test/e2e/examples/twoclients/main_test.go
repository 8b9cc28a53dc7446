package main

func Example() {
	main()
	// Output:
	// two clients, a copy each:
	//   copy a, controller-runtime: written
	//   copy b, clientset: stale, conflict
	//   copy a's content, clientset: written
	//   copy a again, controller-runtime: stale, conflict
	//   copy a, read again: written
	// a cached client:
	//   a copy from the cache, after another client's write: stale, conflict
	//   a copy from the cache, once it has caught up: written
}
