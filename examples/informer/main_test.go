package main

func Example() {
	main()
	// Output:
	// created         generation 1, observed 0, resourceVersion rose: true
	// status written  generation 1, observed 1, resourceVersion rose: true
	// scaled to 3     generation 2, observed 1, resourceVersion rose: true
	// labelled        generation 2, observed 1, resourceVersion rose: true
	// status written  generation 2, observed 2, resourceVersion rose: true
}
