package operator

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// GroupVersion of the kinds of this package.
var GroupVersion = schema.GroupVersion{Group: "optics.example.org", Version: "v1"}

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

	Spec   MirrorSpec   `json:"spec,omitempty"`
	Status MirrorStatus `json:"status,omitempty"`
}

// MirrorSpec is what is asked for.
type MirrorSpec struct {
	Text string `json:"text"`
	// Copies, of which there is one if nothing is said.
	Copies *int `json:"copies,omitempty"`
}

// MirrorStatus is what there is.
type MirrorStatus struct {
	Copies             int                `json:"copies,omitempty"`
	ObservedGeneration int64              `json:"observedGeneration,omitempty"`
	Conditions         []metav1.Condition `json:"conditions,omitempty"`
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
	if m.Spec.Copies != nil {
		c.Spec.Copies = new(*m.Spec.Copies)
	}
	c.Status = m.Status.DeepCopy()
	return &c
}

// Hub implements conversion.Hub: other versions are converted by way of this one.
func (*Mirror) Hub() {}

// DeepCopy returns a copy that shares nothing.
func (s MirrorStatus) DeepCopy() MirrorStatus {
	conditions := s.Conditions
	s.Conditions = nil
	for _, condition := range conditions {
		s.Conditions = append(s.Conditions, *condition.DeepCopy())
	}
	return s
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
