package registry

import "time"

// SetNames replaces the generator of names from a generateName.
func (s *Store) SetNames(names func(base string) string) { s.names = names }

// SetNow replaces the clock.
func (s *Store) SetNow(now func() time.Time) { s.now = now }
