package audit

import (
	"fmt"
	"os"
	"strings"

	authorizationv1 "k8s.io/api/authorization/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	auditapi "k8s.io/apiserver/pkg/apis/audit"
	upstream "k8s.io/apiserver/pkg/audit"
	"k8s.io/apiserver/pkg/audit/policy"
	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/apiserver/pkg/authorization/authorizer"
	"sigs.k8s.io/yaml"

	"github.com/miniapi/miniapi/registry"
)

// defaultPolicy is the policy of a server without a policy file: the metadata of every request.
func defaultPolicy() *auditapi.Policy {
	return &auditapi.Policy{Rules: []auditapi.PolicyRule{{Level: auditapi.LevelMetadata}}}
}

// readPolicy reads a policy file, as kube-apiserver does. It returns the default policy for no
// file.
func readPolicy(file string) (*auditapi.Policy, error) {
	if file == "" {
		return defaultPolicy(), nil
	}
	data, err := os.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("--audit-policy-file: %w: use the path of a Policy of audit.k8s.io/v1", err)
	}
	return parsePolicy(file, data)
}

// parsePolicy returns the policy in the content of a file.
func parsePolicy(file string, data []byte) (*auditapi.Policy, error) {
	var header metav1.TypeMeta
	if err := yaml.Unmarshal(data, &header); err == nil && (header.APIVersion == "" || header.Kind == "") {
		return nil, fmt.Errorf("--audit-policy-file %s: no apiVersion or kind: add apiVersion: audit.k8s.io/v1 and kind: Policy", file)
	}
	read, err := policy.LoadPolicyFromBytes(data)
	if err != nil {
		text := strings.ReplaceAll(err.Error(), "\n", " ")
		return nil, fmt.Errorf("--audit-policy-file %s is not a valid Policy of audit.k8s.io/v1: %s", file, text)
	}
	return read, nil
}

// attributes returns the attributes of a request that the rules of a policy match.
func attributes(access registry.Access) authorizer.Attributes {
	record := authorizer.AttributesRecord{}
	if u := access.User; u != nil {
		record.User = &user.DefaultInfo{Name: u.Username, Groups: u.Groups}
	}
	if access.Resource == nil {
		record.Verb, record.Path = access.NonResource.Verb, access.NonResource.Path
		return record
	}
	setResource(&record, access.Resource)
	return record
}

func setResource(record *authorizer.AttributesRecord, r *authorizationv1.ResourceAttributes) {
	record.ResourceRequest, record.Verb = true, r.Verb
	record.APIGroup, record.APIVersion, record.Resource, record.Subresource = r.Group, r.Version, r.Resource, r.Subresource
	record.Namespace, record.Name = r.Namespace, r.Name
}

// newEvaluator returns the evaluator of the rules of a policy.
func newEvaluator(p *auditapi.Policy) upstream.PolicyRuleEvaluator {
	return policy.NewPolicyRuleEvaluator(p)
}
