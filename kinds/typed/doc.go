// Package typed tells package managedfields how the built-in types are merged:
// which lists are sets or have keys, and what is one thing as a whole.
//
// types.txt has one type a line, its name and what it is:
//
//	s n b u          a string, number, boolean, any scalar
//	@name            the type of that name
//	{f:T g:T=v :T}   an object with fields, v being the default of g; the type
//	                 without a field is that of all others
//	[]T              a list that is one thing as a whole
//	[=]T             a list that is a set
//	[k,l]T           a list whose items are told apart by those fields
//	* ?              anything, as one thing as a whole or field by field
//	!T ~T            T, which is one thing as a whole, or is not
//
// Nothing is parsed before somebody writes an object of a kind, and then only
// what that kind is made of: a tenth of a millisecond for a ConfigMap, a whole one
// for a Deployment.
package typed
