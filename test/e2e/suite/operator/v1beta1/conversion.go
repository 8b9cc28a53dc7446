package v1beta1

import (
	"strings"

	"sigs.k8s.io/controller-runtime/pkg/conversion"

	"github.com/miniapi/miniapi/test/e2e/suite/operator"
)

// ConvertTo implements conversion.Convertible.
func (m *Mirror) ConvertTo(hub conversion.Hub) error {
	to := hub.(*operator.Mirror)
	to.ObjectMeta = m.ObjectMeta
	to.Spec = operator.MirrorSpec{Text: strings.Join(m.Spec.Lines, "\n"), Copies: m.Spec.Copies}
	to.Status = m.Status
	return nil
}

// ConvertFrom implements conversion.Convertible.
func (m *Mirror) ConvertFrom(hub conversion.Hub) error {
	from := hub.(*operator.Mirror)
	m.ObjectMeta = from.ObjectMeta
	m.Spec = MirrorSpec{Lines: strings.Split(from.Spec.Text, "\n"), Copies: from.Spec.Copies}
	m.Status = from.Status
	return nil
}
