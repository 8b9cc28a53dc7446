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

// Annotations of the RangeAllocation. Their values list ports with the time of the event in Unix
// seconds and optionally the UID of the service: 30123=1795000000 30456=1795000007=uid.
const (
	recentAnnotation   = "miniapi.io/recently-taken"
	orphanedAnnotation = "miniapi.io/taken-by-nobody"
)

// portBitmap holds the allocated ports of a range, one bit for each port.
type portBitmap struct {
	ports utilnet.PortRange
	now   time.Time
	bits  *big.Int
	// recent holds the ports that may be allocated by a request in flight, orphaned the allocated
	// ports that no service uses.
	recent, orphaned map[int]portEvent
}

// portEvent is the time at which a port was allocated, or was found to be orphaned.
type portEvent struct {
	since   time.Time
	service types.UID // "" if unknown
}

func newPortBitmap(ports utilnet.PortRange, now time.Time) *portBitmap {
	return &portBitmap{ports: ports, now: now, bits: new(big.Int), recent: map[int]portEvent{}, orphaned: map[int]portEvent{}}
}

// restore loads allocations. It returns false if they have another range.
func (b *portBitmap) restore(allocation *corev1.RangeAllocation) bool {
	if allocation.Range != b.ports.String() {
		return false
	}
	b.bits.SetBytes(allocation.Data)
	parseEvents(b.recent, allocation.Annotations[recentAnnotation])
	parseEvents(b.orphaned, allocation.Annotations[orphanedAnnotation])
	return true
}

func (b *portBitmap) rangeAllocation() *corev1.RangeAllocation {
	allocation := &corev1.RangeAllocation{Range: b.ports.String(), Data: b.bits.Bytes()}
	maps.DeleteFunc(b.recent, func(port int, _ portEvent) bool { return !b.isRecent(port) })
	for name, events := range map[string]map[int]portEvent{recentAnnotation: b.recent, orphanedAnnotation: b.orphaned} {
		if len(events) > 0 {
			metav1.SetMetaDataAnnotation(&allocation.ObjectMeta, name, formatEvents(events))
		}
	}
	return allocation
}

func parseEvents(events map[int]portEvent, text string) {
	for word := range strings.FieldsSeq(text) {
		port, rest, _ := strings.Cut(word, "=")
		since, uid, _ := strings.Cut(rest, "=")
		number, err := strconv.Atoi(port)
		seconds, sinceErr := strconv.ParseInt(since, 10, 64)
		if err == nil && sinceErr == nil {
			events[number] = portEvent{since: time.Unix(seconds, 0), service: types.UID(uid)}
		}
	}
}

func formatEvents(events map[int]portEvent) string {
	var words []string
	for _, port := range slices.Sorted(maps.Keys(events)) {
		word := fmt.Sprintf("%d=%d", port, events[port].since.Unix())
		if uid := events[port].service; uid != "" {
			word += "=" + string(uid)
		}
		words = append(words, word)
	}
	return strings.Join(words, " ")
}

func (b *portBitmap) isRecent(port int) bool { return b.now.Sub(b.recent[port].since) <= leakedAfter }

// isLeaked reports whether a port has been orphaned for longer than leakedAfter.
func (b *portBitmap) isLeaked(port int) bool {
	event, orphaned := b.orphaned[port]
	return orphaned && !b.isRecent(port) && b.now.Sub(event.since) > leakedAfter
}

// markOrphaned records that no service uses a port, unless it was allocated recently.
func (b *portBitmap) markOrphaned(port int) {
	if _, orphaned := b.orphaned[port]; !orphaned && !b.isRecent(port) {
		b.orphaned[port] = portEvent{since: b.now}
	}
}

func (b *portBitmap) contains(port int) bool { return b.ports.Contains(port) }

// allocate allocates a port for a service. It returns false if the port is allocated or outside of
// the range.
func (b *portBitmap) allocate(port int, service types.UID) bool {
	if !b.contains(port) || b.bits.Bit(port-b.ports.Base) == 1 {
		return false
	}
	b.bits.SetBit(b.bits, port-b.ports.Base, 1)
	b.recent[port] = portEvent{since: b.now, service: service}
	delete(b.orphaned, port)
	return true
}

// free frees a port, unless it was recently allocated for another service.
func (b *portBitmap) free(port int, service types.UID) {
	current := b.recent[port].service
	if isOther := current != "" && current != service && b.isRecent(port); b.contains(port) && !isOther {
		b.bits.SetBit(b.bits, port-b.ports.Base, 0)
		delete(b.recent, port)
		delete(b.orphaned, port)
	}
}

// allocated returns the allocated ports in order.
func (b *portBitmap) allocated() iter.Seq[int] {
	return func(yield func(int) bool) {
		for offset := range b.ports.Size {
			if b.bits.Bit(offset) == 1 && !yield(b.ports.Base+offset) {
				return
			}
		}
	}
}

// next returns a random free port, 0 if there is none. Ports of the static part, at the start of
// the range, come last: they are preferred for explicit requests.
func (b *portBitmap) next() int {
	static := 0
	if size := b.ports.Size; size > 16 {
		static = min(max(16, size/32), 128)
	}
	for _, part := range [][2]int{{static, b.ports.Size}, {0, static}} {
		n := part[1] - part[0]
		if n == 0 {
			continue
		}
		start := rand.IntN(n)
		for i := range n {
			if offset := part[0] + (start+i)%n; b.bits.Bit(offset) == 0 {
				return b.ports.Base + offset
			}
		}
	}
	return 0
}
