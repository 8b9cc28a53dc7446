package serviceip

import (
	"fmt"
	"iter"
	"maps"
	"math/big"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	utilnet "k8s.io/apimachinery/pkg/util/net"
)

// The annotations that say of ports since when something has been so, in seconds
// since 1970, and for which service: 30123=1795000000 30456=1795000007=uid.
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
	recent, suspects map[int]note
}

// note says since when something has been so.
type note struct {
	since time.Time
	owner types.UID // of the service; "" if it is not known
}

func newPortSet(ports utilnet.PortRange, now time.Time) *portSet {
	return &portSet{ports: ports, now: now, bits: new(big.Int), recent: map[int]note{}, suspects: map[int]note{}}
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
	maps.DeleteFunc(s.recent, func(port int, _ note) bool { return !s.isRecent(port) })
	for name, notes := range map[string]map[int]note{recentNote: s.recent, suspectNote: s.suspects} {
		if len(notes) > 0 {
			metav1.SetMetaDataAnnotation(&account.ObjectMeta, name, writeNotes(notes))
		}
	}
	return account
}

func readNotes(notes map[int]note, text string) {
	for word := range strings.FieldsSeq(text) {
		port, rest, _ := strings.Cut(word, "=")
		since, owner, _ := strings.Cut(rest, "=")
		number, err := strconv.Atoi(port)
		seconds, sinceErr := strconv.ParseInt(since, 10, 64)
		if err == nil && sinceErr == nil {
			notes[number] = note{since: time.Unix(seconds, 0), owner: types.UID(owner)}
		}
	}
}

func writeNotes(notes map[int]note) string {
	var words []string
	for _, port := range slices.Sorted(maps.Keys(notes)) {
		word := fmt.Sprintf("%d=%d", port, notes[port].since.Unix())
		if owner := notes[port].owner; owner != "" {
			word += "=" + string(owner)
		}
		words = append(words, word)
	}
	return strings.Join(words, " ")
}

func (s *portSet) isRecent(port int) bool { return s.now.Sub(s.recent[port].since) <= leakedAfter }

// isLost tells whether a port has been under suspicion for long enough.
func (s *portSet) isLost(port int) bool {
	suspect, suspected := s.suspects[port]
	return suspected && !s.isRecent(port) && s.now.Sub(suspect.since) > leakedAfter
}

// suspect notes that nobody has a port, unless a request may be about to.
func (s *portSet) suspect(port int) {
	if _, suspected := s.suspects[port]; !suspected && !s.isRecent(port) {
		s.suspects[port] = note{since: s.now}
	}
}

func (s *portSet) contains(port int) bool { return s.ports.Contains(port) }

// take takes a port for a service. It is false if the port is taken, or none of
// the range.
func (s *portSet) take(port int, owner types.UID) bool {
	if !s.contains(port) || s.bits.Bit(port-s.ports.Base) == 1 {
		return false
	}
	s.bits.SetBit(s.bits, port-s.ports.Base, 1)
	s.recent[port] = note{since: s.now, owner: owner}
	delete(s.suspects, port)
	return true
}

// free frees a port, unless a request may just have taken it for another service.
func (s *portSet) free(port int, owner types.UID) {
	taker := s.recent[port].owner
	if isAnother := taker != "" && taker != owner && s.isRecent(port); s.contains(port) && !isAnother {
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
