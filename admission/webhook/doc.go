// Package webhook calls the webhooks of MutatingWebhookConfigurations and
// ValidatingWebhookConfigurations, as kube-apiserver does. A Dispatcher has an admission step for
// each kind.
//
// A webhook is called for requests that match its rules, selectors and conditions (package
// match). It receives an AdmissionReview in the version that it accepts. Mutating webhooks are
// called one after the other, in the order of the names of their configurations, and are
// reinvoked according to their reinvocation policy (package reinvocation). Validating webhooks
// are called concurrently. A response becomes an error, a patch and warnings. If a webhook gives
// no valid response, its failure policy decides.
//
// Each request uses the configurations that exist when it arrives. The compiled form of a
// configuration and the connections of its webhooks are kept until it changes.
//
// The error texts are copied from k8s.io/apiserver.
package webhook
