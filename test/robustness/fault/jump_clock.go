package fault

import (
	"context"
	"fmt"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/miniapi/miniapi/test/robustness/traffic"
)

// JumpClock advances the clock of a server by two to eight hours. An Event expires at all servers
// and a token of the server becomes invalid, while new objects have the new time. The clocks of
// replicas differ, and the clock of a server goes back when the server starts again.
type JumpClock struct{}

// eventLifetime is the time to live of Events, which is shorter than a jump.
const eventLifetime = time.Hour

// Tolerated implements Fault.
func (JumpClock) Tolerated() bool { return true }

// Inject implements Fault.
func (JumpClock) Inject(ctx context.Context, s *Site) (func(context.Context) error, error) {
	n := s.Random.IntN(len(s.Servers))
	clients := s.Traffic.Clients[n]
	old, err := createEvent(ctx, clients)
	if err != nil {
		return nil, err
	}
	token, err := createToken(ctx, clients)
	if err != nil {
		return nil, err
	}
	by := 2*eventLifetime + time.Duration(s.Random.Int64N(int64(6*time.Hour)))
	if err := s.Servers[n].Advance(ctx, by); err != nil {
		return nil, err
	}
	if err := expired(ctx, s, old.Name); err != nil {
		return nil, err
	}
	next, err := createEvent(ctx, clients)
	if err != nil {
		return nil, err
	}
	// Timestamps have whole seconds.
	if got := next.CreationTimestamp.Sub(old.CreationTimestamp.Time); got <= by-time.Second {
		return nil, fmt.Errorf("timestamps went on by %v, the clock by %v", got, by)
	}
	return nothing, rejects(ctx, clients, token)
}

func createEvent(ctx context.Context, clients traffic.Clients) (event *corev1.Event, err error) {
	err = traffic.Retry(ctx, func() error {
		event, err = clients.Typed.CoreV1().Events(traffic.Namespace).Create(ctx, &corev1.Event{
			ObjectMeta:     metav1.ObjectMeta{GenerateName: "expires-"},
			InvolvedObject: corev1.ObjectReference{Namespace: traffic.Namespace},
		}, metav1.CreateOptions{})
		return err
	})
	return event, err
}

// expired waits until an Event is gone at all servers.
func expired(ctx context.Context, s *Site, name string) error {
	for _, clients := range s.Traffic.Clients {
		err := traffic.Retry(ctx, func() error {
			_, err := clients.Typed.CoreV1().Events(traffic.Namespace).Get(ctx, name, metav1.GetOptions{})
			if apierrors.IsNotFound(err) {
				return nil
			}
			return fmt.Errorf("the Event %s has not expired: %v", name, err)
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// createToken returns a token that is valid for an hour.
func createToken(ctx context.Context, clients traffic.Clients) (token string, err error) {
	const name = "jump-clock"
	accounts, lifetime := clients.Typed.CoreV1().ServiceAccounts(traffic.Namespace), int64(3600)
	err = traffic.Retry(ctx, func() error {
		account := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Name: name}}
		if _, err := accounts.Create(ctx, account, metav1.CreateOptions{}); err != nil && !apierrors.IsAlreadyExists(err) {
			return err
		}
		request, err := accounts.CreateToken(ctx, name, &authenticationv1.TokenRequest{
			Spec: authenticationv1.TokenRequestSpec{ExpirationSeconds: &lifetime},
		}, metav1.CreateOptions{})
		if err != nil {
			return err
		}
		token = request.Status.Token
		if authenticated, err := review(ctx, clients, token); err != nil || !authenticated {
			return fmt.Errorf("a new token is authenticated: %t: %v", authenticated, err)
		}
		return nil
	})
	return token, err
}

// rejects returns an error if a server accepts an expired token.
func rejects(ctx context.Context, clients traffic.Clients, token string) error {
	return traffic.Retry(ctx, func() error {
		authenticated, err := review(ctx, clients, token)
		if authenticated {
			err = fmt.Errorf("an expired token is accepted")
		}
		return err
	})
}

func review(ctx context.Context, clients traffic.Clients, token string) (authenticated bool, err error) {
	request := &authenticationv1.TokenReview{Spec: authenticationv1.TokenReviewSpec{Token: token}}
	answer, err := clients.Typed.AuthenticationV1().TokenReviews().Create(ctx, request, metav1.CreateOptions{})
	return err == nil && answer.Status.Authenticated, err
}
