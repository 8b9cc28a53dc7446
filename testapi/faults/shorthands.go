package faults

import (
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// The methods below add a fault with one effect. They panic if the match is invalid, which is a
// mistake in the test.

// Conflict answers with the conflict of a stale write.
func (s *Set) Conflict(m Match) *Active { return s.mustAdd(m, Effect{Conflict: &Conflict{}}) }

// InterveningWrite writes the object before the request is handled.
func (s *Set) InterveningWrite(m Match) *Active {
	return s.mustAdd(m, Effect{Conflict: &Conflict{InterveningWrite: true}})
}

// Error answers with an error, without handling the request.
func (s *Set) Error(m Match, code int) *Active {
	return s.mustAdd(m, Effect{Status: &Status{Code: code}})
}

// ErrorAfterWrite handles the request and answers with an error instead of a success.
func (s *Set) ErrorAfterWrite(m Match, code int) *Active {
	return s.mustAdd(m, Effect{Status: &Status{Code: code, AfterWrite: true}})
}

// Latency delays requests.
func (s *Set) Latency(m Match, d time.Duration) *Active {
	return s.mustAdd(m, Effect{Latency: &Latency{Duration: metav1.Duration{Duration: d}}})
}

// Reset closes the connection without handling the request.
func (s *Set) Reset(m Match) *Active { return s.mustAdd(m, Effect{Reset: &Reset{}}) }

// ResetAfterWrite handles the request and closes the connection instead of a response.
func (s *Set) ResetAfterWrite(m Match) *Active {
	return s.mustAdd(m, Effect{Reset: &Reset{AfterWrite: true}})
}

// Watch disturbs watches.
func (s *Set) Watch(m Match, effect Watch) *Active { return s.mustAdd(m, Effect{Watch: &effect}) }

// Stale holds the watch cache at the present revision: reads with a resourceVersion, and watches,
// have the present state until the fault ends.
func (s *Set) Stale(m Match) *Active { return s.mustAdd(m, Effect{Stale: &Stale{}}) }

// Etcd fails requests to etcd.
func (s *Set) Etcd(m Match, effect Etcd) *Active { return s.mustAdd(m, Effect{Etcd: &effect}) }

// Compact removes the history of etcd before a request is handled.
func (s *Set) Compact(m Match) *Active { return s.mustAdd(m, Effect{Compact: &Compact{}}) }

func (s *Set) mustAdd(m Match, effect Effect) *Active {
	a, err := s.Add(Fault{Match: m, Effect: effect})
	if err != nil {
		panic("faults: " + err.Error())
	}
	return a
}
