// Package boltcheck checks a bbolt database file without mapping it into memory. bbolt itself
// trusts its pages: if a file is damaged, bbolt panics, or reads mapped memory beyond the end of
// the file, which ends the process. Call [Walk] before bbolt opens a file that may be damaged.
//
// Walk follows each page that the newest transaction reaches. It reads the file once and needs
// memory for one path through the tree. It checks what bbolt relies on: a page lies within the
// file, contains its own number and is reached once; its elements lie within the page; its keys
// are sorted and within the bounds of the parent branch. bbolt stores no checksum of keys and
// values, so the visitor checks their content.
package boltcheck
