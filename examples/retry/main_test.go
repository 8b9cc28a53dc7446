package main

func Example() {
	main()
	// Output:
	// without retry:
	//   Operation cannot be fulfilled on deployments.apps "plain": the object has been modified; please apply your changes to the latest version and try again
	//   1 written, 4 conflicts
	//   biz-version is 102
	// with RetryOnConflict:
	//   5 written, 0 conflicts left
	//   biz-version is 106
}
