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
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	utilnet "k8s.io/apimachinery/pkg/util/net"
)

// The annotations that say of ports since when something has been so, in seconds
// since 1970: 30123=1795000000 30456=1795000007.
const (
	recentNote  = "miniapi.io/recently-taken"
	suspectNote = "miniapi.io/taken-by-nobody"
)

// portSet is the account of which ports of a range are taken, a bit for each.
type portSet struct {
	ports utilnet.PortRange
	now   time.Time
	bits  *big.Int
	// recent has those that a request on its way may have taken, suspects those
	// that no service was found to have.
	recent, suspects map[int]time.Time
}

func newPortSet(ports utilnet.PortRange, now time.Time) *portSet {
	return &portSet{ports: ports, now: now, bits: new(big.Int), recent: map[int]time.Time{}, suspects: map[int]time.Time{}}
}

// restore reads an account. It is false if that is of another range.
func (s *portSet) restore(account *corev1.RangeAllocation) bool {
	if account.Range != s.ports.String() {
		return false
	}
	s.bits.SetBytes(account.Data)
	readNotes(s.recent, account.Annotations[recentNote])
	readNotes(s.suspects, account.Annotations[suspectNote])
	return true
}

func (s *portSet) account() *corev1.RangeAllocation {
	account := &corev1.RangeAllocation{Range: s.ports.String(), Data: s.bits.Bytes()}
	maps.DeleteFunc(s.recent, func(port int, _ time.Time) bool { return !s.isRecent(port) })
	for name, notes := range map[string]map[int]time.Time{recentNote: s.recent, suspectNote: s.suspects} {
		if len(notes) > 0 {
			metav1.SetMetaDataAnnotation(&account.ObjectMeta, name, writeNotes(notes))
		}
	}
	return account
}

func readNotes(notes map[int]time.Time, text string) {
	for note := range strings.FieldsSeq(text) {
		var port int
		var at int64
		if _, err := fmt.Sscanf(note, "%d=%d", &port, &at); err == nil {
			notes[port] = time.Unix(at, 0)
		}
	}
}

func writeNotes(notes map[int]time.Time) string {
	var words []string
	for _, port := range slices.Sorted(maps.Keys(notes)) {
		words = append(words, fmt.Sprintf("%d=%d", port, notes[port].Unix()))
	}
	return strings.Join(words, " ")
}

func (s *portSet) isRecent(port int) bool { return s.now.Sub(s.recent[port]) <= leakedAfter }

// isLost tells whether a port has been under suspicion for long enough.
func (s *portSet) isLost(port int) bool {
	since, suspected := s.suspects[port]
	return suspected && !s.isRecent(port) && s.now.Sub(since) > leakedAfter
}

// suspect notes that nobody has a port, unless a request may be about to.
func (s *portSet) suspect(port int) {
	if _, suspected := s.suspects[port]; !suspected && !s.isRecent(port) {
		s.suspects[port] = s.now
	}
}

func (s *portSet) contains(port int) bool { return s.ports.Contains(port) }

// take is false if the port is taken, or none of the range.
func (s *portSet) take(port int) bool {
	if !s.contains(port) || s.bits.Bit(port-s.ports.Base) == 1 {
		return false
	}
	s.bits.SetBit(s.bits, port-s.ports.Base, 1)
	s.recent[port] = s.now
	delete(s.suspects, port)
	return true
}

func (s *portSet) free(port int) {
	if s.contains(port) {
		s.bits.SetBit(s.bits, port-s.ports.Base, 0)
		delete(s.recent, port)
		delete(s.suspects, port)
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
