package main

import (
	"context"
	"net/http"

	"blueprintd/tests/process"
)

// changePassword sets another password, which ends all sessions but that of from.
func (v *dashboardUser) changePassword(ctx context.Context, from *browser) {
	v.number++
	one := &passwordChange{password: passwordOf(v.number), keeps: from}
	input := object{"current": v.password, "password": one.password}
	begun := now()
	a := v.call(ctx, from, "session.changePassword", input, true)
	v.api.minutes.note(bySession, begun, "session.changePassword", object{"userId": v.id}, a)
	switch {
	case a.OK():
		v.used(from, a)
		v.changed(one)
		v.book.count(func(n *counts) { n.Passwords++ })
	case a.Status == http.StatusUnauthorized:
		v.refused(from, a)
	case a.Status == http.StatusBadRequest:
		v.book.violated("I19", "", "the password is not taken for the present one: %s", a)
	case a.Err != process.ErrDown && a.Status != http.StatusTooManyRequests:
		v.waits = one
	}
}

// changed records that the password changed: earlier links and sessions are no longer
// valid.
func (v *dashboardUser) changed(one *passwordChange) {
	if v.password != "" {
		v.past = append(v.past, v.password)
	}
	v.password = one.password
	v.endLinks()
	for _, b := range v.browsers {
		if b != one.keeps && b.state != gone {
			b.state = gone
			v.book.count(func(n *counts) { n.SignOuts++ })
		}
	}
}

// learn finds out whether a change of the password without a response was made, by trying
// the new password.
func (v *dashboardUser) learn(ctx context.Context) {
	one := v.waits
	before := len(v.browsers)
	made, refused := v.signIn(ctx, one.password)
	switch {
	case made != nil:
		v.browsers = v.browsers[:before]
		v.changed(one)
		v.browsers = append(v.browsers, made)
		v.waits = nil
	case refused:
		v.waits = nil
	}
}

// tryPast tries a password that is no longer valid.
func (v *dashboardUser) tryPast(ctx context.Context, password string) {
	made, refused := v.signIn(ctx, password)
	if made != nil {
		v.book.violated("I19", "", "a password that was changed is good still")
	}
	if refused {
		v.book.count(func(n *counts) { n.OldPasswords++ })
	}
}

// askForLink creates a link with a command.
func (v *dashboardUser) askForLink(ctx context.Context) {
	begun := now()
	out, err := v.command(ctx, "user", "link", "--email", v.email)
	if err == nil {
		err = v.addLink(out)
	}
	if err != nil {
		v.book.violated("I19", "", "user link did not make a link: %v", err)
		return
	}
	v.api.minutes.note(byOperator, begun, "user.link", object{"userId": v.id}, answer{Status: http.StatusOK})
}

// setUp sets a password with a link: the newest or a dead one.
func (v *dashboardUser) setUp(ctx context.Context, dead bool) {
	var fit []*setUpLink
	for _, l := range v.links {
		if l.dead == dead {
			fit = append(fit, l)
		}
	}
	if len(fit) > 0 {
		v.takeLink(ctx, fit[v.random.IntN(len(fit))])
	}
}

func (v *dashboardUser) takeLink(ctx context.Context, link *setUpLink) {
	if link.dead {
		if a := v.call(ctx, nil, "session.getSetup", object{"token": link.token}, false); a.OK() {
			v.book.violated("I19", "", "a link that was used, or another has replaced, is good still: %s", a)
		}
	}
	v.number++
	one := &passwordChange{password: passwordOf(v.number), link: link}
	input := object{"token": link.token, "email": v.email, "name": "Browser", "password": one.password}
	a, d := v.does(ctx, nil, "session.setup", input)
	switch {
	case link.dead && a.OK():
		v.book.violated("I19", "", "a link that was used, or another has replaced, set a password")
		v.changed(one)
		v.open(a, d)
	case link.dead && a.Status == http.StatusNotFound:
		v.book.count(func(n *counts) { n.UsedLinks++ })
	case link.dead:
	case a.OK():
		v.changed(one)
		v.open(a, d)
		v.book.count(func(n *counts) { n.SetUps++ })
	case a.Status == http.StatusNotFound:
		v.book.violated("I19", "", "an unused link does not work: %s", a)
		link.dead = true
	case a.Err != process.ErrDown && a.Status != http.StatusTooManyRequests:
		v.waits = one
	}
}

// ask calls a procedure as a signed-in user.
func (v *dashboardUser) ask(ctx context.Context, procedure string, input object) answer {
	return v.call(ctx, v.some(signedIn), procedure, input, false)
}

// mostToTry is the number of passwords tried at the end, fewer than the number of wrong
// ones an account allows.
const mostToTry = 5

// leave checks at the end whether every session and link is as acknowledged, and stays
// signed in.
func (v *dashboardUser) leave(ctx context.Context) {
	if v.waits != nil {
		v.learn(ctx)
	}
	if v.password == "" {
		v.setUp(ctx, false)
	}
	if v.signIn(ctx, v.password); v.some(signedIn) == nil {
		v.book.violated("I19", "", "signing in with the acknowledged password fails")
		return
	}
	for _, b := range v.browsers {
		v.look(ctx, b)
	}
	for _, l := range v.links {
		if l.dead {
			if a := v.call(ctx, nil, "session.getSetup", object{"token": l.token}, false); a.OK() {
				v.book.violated("I19", "", "a link that was used, or another has replaced, is good still: %s", a)
			}
		}
	}
	for _, password := range v.past[max(0, len(v.past)-mostToTry):] {
		v.tryPast(ctx, password)
	}
	organizations, _ := v.ask(ctx, "organization.list", object{}).Value.([]any)
	for _, one := range organizations {
		v.organization, _ = process.At(one, "id").(string)
	}
}
