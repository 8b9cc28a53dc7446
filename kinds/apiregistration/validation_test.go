package apiregistration

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	apiregistrationv1 "k8s.io/kube-aggregator/pkg/apis/apiregistration/v1"
)

func TestValidation(t *testing.T) {
	valid := func() *apiregistrationv1.APIService {
		s := &apiregistrationv1.APIService{}
		s.Name = "v1.example.org"
		s.Spec = apiregistrationv1.APIServiceSpec{Group: "example.org", Version: "v1", GroupPriorityMinimum: 100, VersionPriority: 10}
		return s
	}
	for name, c := range map[string]struct {
		change func(s *apiregistrationv1.APIService)
		want   []string
	}{
		"valid": {change: func(*apiregistrationv1.APIService) {}},
		"the name is of version and group": {
			change: func(s *apiregistrationv1.APIService) { s.Name = "other" },
			want:   []string{"metadata.name: Invalid value: \"other\": must be `spec.version+\".\"+spec.group`: \"v1.example.org\""},
		},
		"the core group has one version": {
			change: func(s *apiregistrationv1.APIService) { s.Name, s.Spec.Group, s.Spec.Version = "v2.", "", "v2" },
			want:   []string{"spec.group: Required value: only v1 may have an empty group and it better be legacy kube"},
		},
		"priorities have limits": {
			change: func(s *apiregistrationv1.APIService) {
				s.Spec.GroupPriorityMinimum, s.Spec.VersionPriority = 20001, 0
			},
			want: []string{
				"spec.groupPriorityMinimum: Invalid value: 20001: must be positive and less than 20000",
				"spec.versionPriority: Invalid value: 0: must be positive and less than 1000",
			},
		},
		"who serves itself trusts itself": {
			change: func(s *apiregistrationv1.APIService) {
				s.Spec.CABundle, s.Spec.InsecureSkipTLSVerify = []byte("ca"), true
			},
			want: []string{
				`spec.caBundle: Invalid value: "2 bytes": local APIServices may not have a caBundle`,
				"spec.insecureSkipTLSVerify: Invalid value: true: local APIServices may not have insecureSkipTLSVerify",
			},
		},
		"another server is named in full, and trusted in one way": {
			change: func(s *apiregistrationv1.APIService) {
				s.Spec.Service = &apiregistrationv1.ServiceReference{Port: new(int32(0))}
				s.Spec.CABundle, s.Spec.InsecureSkipTLSVerify = []byte("ca"), true
			},
			want: []string{
				"spec.service.namespace: Required value", "spec.service.name: Required value",
				"spec.service.port: Invalid value: 0: port is not valid: must be between 1 and 65535, inclusive",
				"spec.insecureSkipTLSVerify: Invalid value: true: may not be true if caBundle is present",
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			service := valid()
			c.change(service)
			var got []string
			for _, fault := range validate(t.Context(), service) {
				got = append(got, fault.Error())
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}
