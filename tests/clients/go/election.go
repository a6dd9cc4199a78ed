package main

import (
	"context"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/leaderelection"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
)

// election lets two stand for one Lease: one leads, gives it back, the other takes it; then it is taken away by force, and won again.
func election(ctx context.Context, s *server) {
	told := &journal{}
	stand := func(name string) context.CancelFunc {
		standing, stop := context.WithCancel(ctx)
		config := leaderelection.LeaderElectionConfig{
			Lock: &resourcelock.LeaseLock{
				LeaseMeta: metav1.ObjectMeta{Name: "leader", Namespace: s.namespace}, Client: s.typed.CoordinationV1(),
				LockConfig: resourcelock.ResourceLockConfig{Identity: name},
			},
			// Long enough for a busy machine to renew it in time.
			LeaseDuration: 10 * time.Second, RenewDeadline: 9 * time.Second, RetryPeriod: 200 * time.Millisecond,
			ReleaseOnCancel: true, Name: "leader",
			Callbacks: leaderelection.LeaderCallbacks{
				OnStartedLeading: func(context.Context) { told.note("%s leads", name) },
				OnStoppedLeading: func() { told.note("%s has stopped", name) },
				OnNewLeader:      func(string) {},
			},
		}
		elector, err := leaderelection.NewLeaderElector(config)
		must(err)
		go elector.Run(standing)
		return stop
	}
	lease := func() {
		live, err := s.typed.CoordinationV1().Leases(s.namespace).Get(ctx, "leader", metav1.GetOptions{})
		must(err)
		holder, transitions := "nobody", int32(0)
		if live.Spec.HolderIdentity != nil {
			holder = *live.Spec.HolderIdentity
		}
		if live.Spec.LeaseTransitions != nil {
			transitions = *live.Spec.LeaseTransitions
		}
		s.say("held by %q for %d s, passed on %d times", holder, *live.Spec.LeaseDurationSeconds, transitions)
	}

	stopFirst := stand("first")
	s.say("%v", told.take(ctx, 1))
	lease()
	stopSecond := stand("second")
	stopFirst()
	s.say("%v", sorted(told.take(ctx, 2)))
	lease()

	leases := s.typed.CoordinationV1().Leases(s.namespace)
	thief, now := "thief", metav1.NewMicroTime(time.Now())
	until(ctx, func() bool {
		live, err := leases.Get(ctx, "leader", metav1.GetOptions{})
		must(err)
		live.Spec.HolderIdentity, live.Spec.RenewTime = &thief, &now
		_, err = leases.Update(ctx, live, metav1.UpdateOptions{})
		return err == nil
	})
	s.say("%v", told.take(ctx, 1))
	lease()
	stopSecond()
	stopThird := stand("third")
	s.say("%v", told.take(ctx, 1))
	lease()
	stopThird()
	// Whether it could give the Lease back is chance: what it was just renewing is too old a version to be changed once more.
	s.say("%v", told.take(ctx, 1))
}

func sorted(lines []string) []string {
	slices.Sort(lines)
	return lines
}
