package main

import (
	"context"
	"net/http"

	"blueprintd/tests/process"
)

// changePassword sets another password, which ends all sessions but that of from.
func (u *dashboardUser) changePassword(ctx context.Context, from *browser) {
	u.number++
	one := &passwordChange{password: passwordOf(u.number), keeps: from}
	input := object{"current": u.password, "password": one.password}
	begun := now()
	a := u.call(ctx, from, "session.changePassword", input, true)
	u.api.changes.record(bySession, begun, "session.changePassword", object{"userId": u.id}, a)
	switch {
	case a.OK():
		u.sessionWorked(from, a)
		u.setPassword(one)
		u.history.count(func(n *counts) { n.Passwords++ })
	case a.Status == http.StatusUnauthorized:
		u.sessionRefused(from, a)
	case a.Status == http.StatusBadRequest:
		u.history.violated("I19", "", "the current password is refused: %s", a)
	case a.Err != process.ErrDown && a.Status != http.StatusTooManyRequests:
		u.pendingPassword = one
	}
}

// setPassword records that the password changed: earlier links and sessions are no longer
// valid.
func (u *dashboardUser) setPassword(one *passwordChange) {
	if u.password != "" {
		u.oldPasswords = append(u.oldPasswords, u.password)
	}
	u.password = one.password
	u.invalidateLinks()
	for _, b := range u.browsers {
		if b != one.keeps && b.state != signedOut {
			b.state = signedOut
			u.history.count(func(n *counts) { n.SignOuts++ })
		}
	}
}

// resolvePassword finds out whether a change of the password without a response was made, by trying
// the new password.
func (u *dashboardUser) resolvePassword(ctx context.Context) {
	one := u.pendingPassword
	before := len(u.browsers)
	made, refused := u.signIn(ctx, one.password)
	switch {
	case made != nil:
		u.browsers = u.browsers[:before]
		u.setPassword(one)
		u.browsers = append(u.browsers, made)
		u.pendingPassword = nil
	case refused:
		u.pendingPassword = nil
	}
}

// tryOldPassword tries a password that is no longer valid.
func (u *dashboardUser) tryOldPassword(ctx context.Context, password string) {
	made, refused := u.signIn(ctx, password)
	if made != nil {
		u.history.violated("I19", "", "a previous password is still accepted")
	}
	if refused {
		u.history.count(func(n *counts) { n.OldPasswords++ })
	}
}

// createLink creates a link with a command.
func (u *dashboardUser) createLink(ctx context.Context) {
	begun := now()
	out, err := u.command(ctx, "user", "link", "--email", u.email)
	if err == nil {
		err = u.addLink(out)
	}
	if err != nil {
		u.history.violated("I19", "", "user link failed: %v", err)
		return
	}
	u.api.changes.record(byOperator, begun, "user.link", object{"userId": u.id}, answer{Status: http.StatusOK})
}

// setUp sets a password with a link: the newest or a dead one.
func (u *dashboardUser) setUp(ctx context.Context, dead bool) {
	var candidates []*setUpLink
	for _, l := range u.links {
		if l.invalid == dead {
			candidates = append(candidates, l)
		}
	}
	if len(candidates) > 0 {
		u.useLink(ctx, candidates[u.random.IntN(len(candidates))])
	}
}

func (u *dashboardUser) useLink(ctx context.Context, link *setUpLink) {
	if link.invalid {
		if a := u.call(ctx, nil, "session.getSetup", object{"token": link.token}, false); a.OK() {
			u.history.violated("I19", "", "a used or replaced link is still accepted: %s", a)
		}
	}
	u.number++
	one := &passwordChange{password: passwordOf(u.number), link: link}
	input := object{"token": link.token, "email": u.email, "name": "Browser", "password": one.password}
	a, d := u.mutate(ctx, nil, "session.setup", input)
	switch {
	case link.invalid && a.OK():
		u.history.violated("I19", "", "a used or replaced link set a password")
		u.setPassword(one)
		u.addBrowser(a, d)
	case link.invalid && a.Status == http.StatusNotFound:
		u.history.count(func(n *counts) { n.UsedLinks++ })
	case link.invalid:
	case a.OK():
		u.setPassword(one)
		u.addBrowser(a, d)
		u.history.count(func(n *counts) { n.SetUps++ })
	case a.Status == http.StatusNotFound:
		u.history.violated("I19", "", "an unused link does not work: %s", a)
		link.invalid = true
	case a.Err != process.ErrDown && a.Status != http.StatusTooManyRequests:
		u.pendingPassword = one
	}
}

// ask calls a procedure as a signed-in user.
func (u *dashboardUser) ask(ctx context.Context, procedure string, input object) answer {
	return u.call(ctx, u.randomBrowser(signedIn), procedure, input, false)
}

// maxOldPasswords is the number of passwords tried at the end, fewer than the number of wrong
// ones an account allows.
const maxOldPasswords = 5

// checkAll checks at the end whether every session and link is as acknowledged, and stays
// signed in.
func (u *dashboardUser) checkAll(ctx context.Context) {
	if u.pendingPassword != nil {
		u.resolvePassword(ctx)
	}
	if u.password == "" {
		u.setUp(ctx, false)
	}
	if u.signIn(ctx, u.password); u.randomBrowser(signedIn) == nil {
		u.history.violated("I19", "", "signing in with the acknowledged password fails")
		return
	}
	for _, b := range u.browsers {
		u.useSession(ctx, b)
	}
	for _, l := range u.links {
		if l.invalid {
			if a := u.call(ctx, nil, "session.getSetup", object{"token": l.token}, false); a.OK() {
				u.history.violated("I19", "", "a used or replaced link is still accepted: %s", a)
			}
		}
	}
	for _, password := range u.oldPasswords[max(0, len(u.oldPasswords)-maxOldPasswords):] {
		u.tryOldPassword(ctx, password)
	}
	organizations, _ := u.ask(ctx, "organization.list", object{}).Value.([]any)
	for _, one := range organizations {
		u.organization, _ = process.At(one, "id").(string)
	}
}
