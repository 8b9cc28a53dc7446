package allocation

import (
	"fmt"
	"iter"
	"maps"
	"math/big"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	utilnet "k8s.io/apimachinery/pkg/util/net"
)

// recentNote is the annotation that says which ports were taken not long ago, and
// when, in seconds since 1970: 30123=1795000000 30456=1795000007.
const recentNote = "miniapi.io/recently-taken"

// portSet is the account of which ports of a range are taken, a bit for each.
type portSet struct {
	ports utilnet.PortRange
	now   time.Time
	bits  *big.Int
	// recent has those that a request on its way may have taken.
	recent map[int]time.Time
}

func newPortSet(ports utilnet.PortRange, now time.Time) *portSet {
	return &portSet{ports: ports, now: now, bits: new(big.Int), recent: map[int]time.Time{}}
}

// restore reads an account. It is false if that is of another range.
func (s *portSet) restore(account *corev1.RangeAllocation) bool {
	if account.Range != s.ports.String() {
		return false
	}
	s.bits.SetBytes(account.Data)
	for note := range strings.FieldsSeq(account.Annotations[recentNote]) {
		var port int
		var at int64
		if _, err := fmt.Sscanf(note, "%d=%d", &port, &at); err == nil {
			s.recent[port] = time.Unix(at, 0)
		}
	}
	return true
}

func (s *portSet) account() *corev1.RangeAllocation {
	account := &corev1.RangeAllocation{Range: s.ports.String(), Data: s.bits.Bytes()}
	var notes []string
	for _, port := range slices.Sorted(maps.Keys(s.recent)) {
		if s.isRecent(port) {
			notes = append(notes, fmt.Sprintf("%d=%d", port, s.recent[port].Unix()))
		}
	}
	if len(notes) > 0 {
		account.Annotations = map[string]string{recentNote: strings.Join(notes, " ")}
	}
	return account
}

func (s *portSet) isRecent(port int) bool { return s.now.Sub(s.recent[port]) <= leakedAfter }

func (s *portSet) contains(port int) bool { return s.ports.Contains(port) }

// take is false if the port is taken, or none of the range.
func (s *portSet) take(port int) bool {
	if !s.contains(port) || s.bits.Bit(port-s.ports.Base) == 1 {
		return false
	}
	s.bits.SetBit(s.bits, port-s.ports.Base, 1)
	s.recent[port] = s.now
	return true
}

func (s *portSet) free(port int) {
	if s.contains(port) {
		s.bits.SetBit(s.bits, port-s.ports.Base, 0)
		delete(s.recent, port)
	}
}

// taken are all that are, in order.
func (s *portSet) taken() iter.Seq[int] {
	return func(yield func(int) bool) {
		for offset := range s.ports.Size {
			if s.bits.Bit(offset) == 1 && !yield(s.ports.Base+offset) {
				return
			}
		}
	}
}

// any returns a free port, 0 if there is none. The first ones are for services
// that ask for them, as long as there are others.
func (s *portSet) any() int {
	static := 0
	if size := s.ports.Size; size > 16 {
		static = min(max(16, size/32), 128)
	}
	for _, part := range [][2]int{{static, s.ports.Size}, {0, static}} {
		n := part[1] - part[0]
		if n == 0 {
			continue
		}
		start := rand.IntN(n)
		for i := range n {
			if offset := part[0] + (start+i)%n; s.bits.Bit(offset) == 0 {
				return s.ports.Base + offset
			}
		}
	}
	return 0
}
