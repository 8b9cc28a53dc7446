package registry

import (
	"crypto/sha256"
	"hash/maphash"
	"sync/atomic"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
)

// memoSlots is the number of applies that a field manager remembers.
const memoSlots = 64

// applyMemo remembers applies that changed nothing. The same apply to the same state changes
// nothing again. Controllers apply periodically, and computing that nothing changes costs as much
// as an effective apply. A new entry replaces the entry in its slot.
type applyMemo struct {
	seed  maphash.Seed
	slots [memoSlots]atomic.Pointer[appliedState]
}

// appliedState is the complete input of an apply.
type appliedState struct {
	uid      types.UID
	revision string
	manager  string
	source   [sha256.Size]byte // its hash
	force    bool
}

func newApplyMemo() *applyMemo { return &applyMemo{seed: maphash.MakeSeed()} }

// state returns the input of an apply, and false if it is not remembered.
func (m *applyMemo) state(current runtime.Object, req ApplyRequest) (appliedState, bool) {
	accessor, err := meta.Accessor(current)
	if err != nil || accessor.GetUID() == "" || len(req.Source) == 0 {
		return appliedState{}, false
	}
	return appliedState{
		uid:      accessor.GetUID(),
		revision: accessor.GetResourceVersion(),
		manager:  req.Options.FieldManager,
		source:   sha256.Sum256(req.Source),
		force:    req.Force,
	}, true
}

func (m *applyMemo) slot(s appliedState) *atomic.Pointer[appliedState] {
	return &m.slots[maphash.String(m.seed, string(s.uid)+s.manager)%memoSlots]
}

func (m *applyMemo) changesNothing(s appliedState) bool {
	known := m.slot(s).Load()
	return known != nil && *known == s
}

func (m *applyMemo) remember(s appliedState) { m.slot(s).Store(&s) }
