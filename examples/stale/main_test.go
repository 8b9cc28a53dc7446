package main

func Example() {
	main()
	// Output:
	// stale copy:        Operation cannot be fulfilled on pods "web": the object has been modified; please apply your changes to the latest version and try again
	// read-modify-write: <nil>
	// patch:             <nil>
	// annotations:       [mine patched theirs]
}
