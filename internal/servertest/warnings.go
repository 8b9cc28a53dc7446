package servertest

import "sync"

// Warnings collects the warnings of responses. It is a rest.WarningHandler. Its methods may be
// called concurrently.
type Warnings struct {
	mu    sync.Mutex // guards texts
	texts []string
}

// HandleWarningHeader implements rest.WarningHandler.
func (w *Warnings) HandleWarningHeader(_ int, _, text string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.texts = append(w.texts, text)
}

// Take returns the warnings since the last call.
func (w *Warnings) Take() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	texts := w.texts
	w.texts = nil
	return texts
}
