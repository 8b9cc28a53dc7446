// Package memory stores a few objects in the memory of the process, for resources that describe the
// server itself. Writes have the rules of package storage: revisions, which are those of the store
// alone, preconditions and atomic updates.
//
// It differs from the other stores where few objects make that unnecessary: a list ignores its
// limit, past revisions cannot be read (ErrCompacted), and nothing expires.
package memory
