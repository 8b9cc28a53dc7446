package rbac

import (
	"cmp"
	"fmt"
	"slices"

	authenticationv1 "k8s.io/api/authentication/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// policy holds all roles and bindings at one time.
//
// Invariant: it never changes after it is built.
type policy struct {
	roles           map[string]*rbacv1.Role // by namespace/name
	clusterRoles    map[string]*rbacv1.ClusterRole
	bindings        map[string][]*rbacv1.RoleBinding // by namespace, in the order of names
	clusterBindings []*rbacv1.ClusterRoleBinding     // in the order of names
}

// grant identifies the binding, and the subject in it, that rules come from.
type grant struct {
	kind, binding string
	role          rbacv1.RoleRef
	subject       rbacv1.Subject
	namespace     string
}

func (g grant) String() string {
	subject := g.subject.Name
	if g.subject.Kind == rbacv1.ServiceAccountKind {
		subject += "/" + cmp.Or(g.subject.Namespace, g.namespace)
	}
	binding := g.binding
	if g.namespace != "" {
		binding += "/" + g.namespace
	}
	return fmt.Sprintf("%s %q of %s %q to %s %q", g.kind, binding, g.role.Kind, g.role.Name, g.subject.Kind, subject)
}

// visitor is called with the rules of one binding, or the error of its role. It reports whether to
// continue.
type visitor func(source grant, rules []rbacv1.PolicyRule, err error) bool

// visit calls a visitor for each binding of a user: the cluster-wide ones, then those of the
// namespace unless it is "".
func (p *policy) visit(user *authenticationv1.UserInfo, namespace string, visit visitor) {
	if user == nil {
		return
	}
	for _, b := range p.clusterBindings {
		if subject, ok := subjectFor(user, b.Subjects, ""); ok {
			rules, err := p.rulesOf(b.RoleRef, "")
			source := grant{kind: "ClusterRoleBinding", binding: b.Name, role: b.RoleRef, subject: subject}
			if !visit(source, rules, err) {
				return
			}
		}
	}
	if namespace == "" {
		return
	}
	for _, b := range p.bindings[namespace] {
		if subject, ok := subjectFor(user, b.Subjects, namespace); ok {
			rules, err := p.rulesOf(b.RoleRef, namespace)
			source := grant{kind: "RoleBinding", binding: b.Name, role: b.RoleRef, subject: subject, namespace: namespace}
			if !visit(source, rules, err) {
				return
			}
		}
	}
}

// rulesFor returns the rules of a user in a namespace, and the errors of roles that are missing.
func (p *policy) rulesFor(user *authenticationv1.UserInfo, namespace string) (rules []rbacv1.PolicyRule, errs []error) {
	p.visit(user, namespace, func(_ grant, found []rbacv1.PolicyRule, err error) bool {
		rules = append(rules, found...)
		if err != nil {
			errs = append(errs, err)
		}
		return true
	})
	return rules, errs
}

// rulesOf returns the rules of the role of a binding. The namespace of a ClusterRoleBinding is "".
func (p *policy) rulesOf(ref rbacv1.RoleRef, namespace string) ([]rbacv1.PolicyRule, error) {
	switch ref.Kind {
	case "Role":
		if role, ok := p.roles[namespace+"/"+ref.Name]; ok {
			return role.Rules, nil
		}
		return nil, apierrors.NewNotFound(rbacv1.Resource("role"), ref.Name)
	case "ClusterRole":
		if role, ok := p.clusterRoles[ref.Name]; ok {
			return role.Rules, nil
		}
		return nil, apierrors.NewNotFound(rbacv1.Resource("clusterrole"), ref.Name)
	default:
		return nil, fmt.Errorf("unsupported role reference kind: %q", ref.Kind)
	}
}

// subjectFor returns the first subject that matches a user. It is false if there is none. namespace
// is the namespace of the binding.
func subjectFor(user *authenticationv1.UserInfo, subjects []rbacv1.Subject, namespace string) (rbacv1.Subject, bool) {
	i := slices.IndexFunc(subjects, func(s rbacv1.Subject) bool {
		switch s.Kind {
		case rbacv1.UserKind:
			return s.Name == user.Username
		case rbacv1.GroupKind:
			return slices.Contains(user.Groups, s.Name)
		case rbacv1.ServiceAccountKind:
			accountNamespace := cmp.Or(s.Namespace, namespace)
			return accountNamespace != "" && user.Username == "system:serviceaccount:"+accountNamespace+":"+s.Name
		default:
			return false
		}
	})
	if i < 0 {
		return rbacv1.Subject{}, false
	}
	return subjects[i], true
}
