// Package typed provides package managedfields with the merge rules of the built-in types: which
// lists are sets or have keys, and which values are atomic.
//
// types.txt has one type per line, its name and its definition:
//
//	s n b u          a string, number, boolean, any scalar
//	@name            the type of that name
//	{f:T g:T=v :T}   an object with fields, v being the default of g; the type
//	                 without a field is that of all others
//	[]T              an atomic list
//	[=]T             a list that is a set
//	[k,l]T           a list with the keys k and l
//	* ?              any value, atomic or granular
//	!T ~T            T, which is atomic, or is granular
//
// Types are parsed on the first write of an object of a kind, and only those that the kind refers
// to: that takes a tenth of a millisecond for a ConfigMap and one millisecond for a Deployment.
package typed
