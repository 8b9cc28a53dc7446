// Package v1beta1 is an earlier version of the operator's kind, which is
// converted from and to the one that is stored.
package v1beta1

import (
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/miniapi/miniapi/test/e2e/suite/operator"
)

// GroupVersion of the kinds of this package.
var GroupVersion = schema.GroupVersion{Group: operator.GroupVersion.Group, Version: "v1beta1"}

// AddToScheme makes a scheme know them.
func AddToScheme(scheme *runtime.Scheme) error {
	scheme.AddKnownTypes(GroupVersion, &Mirror{}, &MirrorList{})
	metav1.AddToGroupVersion(scheme, GroupVersion)
	return nil
}

// Mirror asks for ConfigMaps that all say the same.
type Mirror struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec   MirrorSpec            `json:"spec,omitempty"`
	Status operator.MirrorStatus `json:"status,omitempty"`
}

// MirrorSpec is what is asked for.
type MirrorSpec struct {
	Lines []string `json:"lines,omitempty"`
	// Copies, of which there is one if nothing is said.
	Copies *int `json:"copies,omitempty"`
}

// MirrorList is a list of Mirrors.
type MirrorList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`

	Items []Mirror `json:"items"`
}

// DeepCopyObject implements runtime.Object.
func (m *Mirror) DeepCopyObject() runtime.Object { return m.DeepCopy() }

// DeepCopy returns a copy that shares nothing.
func (m *Mirror) DeepCopy() *Mirror {
	c := *m
	m.ObjectMeta.DeepCopyInto(&c.ObjectMeta)
	c.Spec.Lines = slices.Clone(m.Spec.Lines)
	if m.Spec.Copies != nil {
		c.Spec.Copies = new(*m.Spec.Copies)
	}
	c.Status = m.Status.DeepCopy()
	return &c
}

// DeepCopyObject implements runtime.Object.
func (l *MirrorList) DeepCopyObject() runtime.Object {
	c := *l
	l.ListMeta.DeepCopyInto(&c.ListMeta)
	c.Items = nil
	for i := range l.Items {
		c.Items = append(c.Items, *l.Items[i].DeepCopy())
	}
	return &c
}
