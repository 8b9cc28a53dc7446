// Package webhook asks the webhooks of MutatingWebhookConfigurations and
// ValidatingWebhookConfigurations about writes, as kube-apiserver does: a
// Dispatcher has a step of admission for each kind.
//
// A write is described to those webhooks whose rules, selectors and conditions
// are met, in the version that they ask for (package match), as an
// AdmissionReview. Mutating webhooks are asked one after the other, in the order
// of their configurations' names, and may be asked again if others have changed
// something; validating ones all at once. What webhooks say becomes an error, a
// patch and warnings; that one cannot be reached is an error or nothing, by its
// failure policy.
//
// Every request goes by the configurations that exist when it comes. What has
// been made of one, its connections among it, is kept until it changes.
//
// The texts of errors are those of k8s.io/apiserver.
package webhook
