// Package boltcheck reads a bbolt database file without mapping it into memory
// and says whether it is whole. bbolt itself trusts its pages: where a file is
// damaged it panics, or touches memory that no file stands behind, which ends
// the process. So whoever does not trust a file calls [Walk] before bbolt opens
// it.
//
// The walk follows every page that the newest transaction reaches, in one
// reading of the file and with memory for one path through the tree. It holds
// each page against what bbolt takes for granted: it lies within the file, says
// its own number, is reached once, its elements lie within it, its keys rise
// and stay between those of the branch above. bbolt keeps no checksum over the
// contents of keys and values: what these mean is for the visitor to judge.
package boltcheck
