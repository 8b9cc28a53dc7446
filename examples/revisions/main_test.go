package main

func Example() {
	main()
	// Output:
	// (revisions relative to the first write; resourceVersion as in the response)
	//              Revision CreateRevision ModRevision Version resourceVersion
	// create              1              1           1       1               1
	// update              2              1           2       2               2
	// no change           2              1           2       2               2
	// delete              3              -           -       -               -
	// re-create           4              4           4       1               4
	// at the first revision the key has version 1 and begins with "k8s\x00"
}
