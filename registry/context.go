package registry

import (
	"context"
	"sync"

	authenticationv1 "k8s.io/api/authentication/v1"
)

type contextKey int

const (
	userKey contextKey = iota
	warningsKey
	admittedKey
)

// WithUser returns a context whose requests are made by user.
func WithUser(ctx context.Context, user *authenticationv1.UserInfo) context.Context {
	return context.WithValue(ctx, userKey, user)
}

// WithServerUser returns a context whose requests are made by the server itself.
func WithServerUser(ctx context.Context) context.Context {
	return WithUser(ctx, &authenticationv1.UserInfo{Username: "system:apiserver", Groups: []string{"system:masters"}})
}

// UserFrom returns who makes the request, nil if nobody said so.
func UserFrom(ctx context.Context) *authenticationv1.UserInfo {
	user, _ := ctx.Value(userKey).(*authenticationv1.UserInfo)
	return user
}

// withAdmitted returns a context whose writes are parts of one that admission
// has seen as a whole.
func withAdmitted(ctx context.Context) context.Context {
	return context.WithValue(ctx, admittedKey, true)
}

func isAdmitted(ctx context.Context) bool { return ctx.Value(admittedKey) != nil }

// Warnings collects, in order and each once, what a client should be warned
// of. Safe for concurrent use.
type Warnings struct {
	mu    sync.Mutex // guards what follows
	texts []string
	seen  map[string]bool // those in texts
}

// WithWarnings returns a context in which AddWarning reaches the collector.
func WithWarnings(ctx context.Context) (context.Context, *Warnings) {
	w := &Warnings{}
	return context.WithValue(ctx, warningsKey, w), w
}

// AddWarning warns the client of the request, if there is one.
func AddWarning(ctx context.Context, text string) {
	w, ok := ctx.Value(warningsKey).(*Warnings)
	if !ok {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.seen[text] {
		return
	}
	if w.seen == nil {
		w.seen = map[string]bool{}
	}
	w.seen[text] = true
	w.texts = append(w.texts, text)
}

// List returns the warnings so far.
func (w *Warnings) List() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return append([]string(nil), w.texts...)
}
