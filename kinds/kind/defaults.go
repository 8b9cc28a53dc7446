package kind

// SetDefault sets a field that has its zero value.
func SetDefault[T comparable](field *T, value T) {
	var zero T
	if *field == zero {
		*field = value
	}
}

// SetDefaultPointer sets a field that is nil. It allocates only then.
func SetDefaultPointer[T any](field **T, value T) {
	if *field == nil {
		*field = new(value)
	}
}
