// Package resourcelist computes with lists of resources: sums, and the requests and limits of pods.
package resourcelist

import corev1 "k8s.io/api/core/v1"

// Add adds quantities to a list. It does not modify the quantities, which other lists may
// share.
func Add(list, more corev1.ResourceList) {
	for name, quantity := range more {
		sum := list[name].DeepCopy()
		if _, ok := list[name]; !ok {
			sum = quantity.DeepCopy()
		} else {
			sum.Add(quantity)
		}
		list[name] = sum
	}
}

// Raise raises each quantity in a list to the quantity of the same resource in another list.
func Raise(list, other corev1.ResourceList) {
	for name, quantity := range other {
		if current, ok := list[name]; !ok || quantity.Cmp(current) > 0 {
			list[name] = quantity
		}
	}
}
