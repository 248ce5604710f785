package connections_test

import (
	"bytes"
	"context"
	"sync"

	"blueprintd/blueprint"
	"blueprintd/foundation/clock"
)

// memory is a Store in memory, with the rules of the real one. fail, if set, is called
// before each call and can fail it.
type memory struct {
	clock *clock.Virtual
	fail  func(call string) error

	mu          sync.Mutex
	connections map[string]*blueprint.Connection
	members     map[string][]string // of organizations
	tokens      map[string][]byte
	signIns     []blueprint.SignIn
	maxTickets  int             // 0 = any number
	granted     map[string]bool // by user and version
	calls       []string

	claims map[string]chan struct{} // each holds an element while the claim is held
	waits  func()                   // called when a claim is held by another
}

func newMemory(clock *clock.Virtual) *memory {
	return &memory{clock: clock, connections: map[string]*blueprint.Connection{}, members: map[string][]string{}, tokens: map[string][]byte{}, granted: map[string]bool{}, claims: map[string]chan struct{}{}}
}

// enter begins a call; leave must be called at its end.
func (m *memory) enter(call string) (leave func(), err error) {
	m.mu.Lock()
	m.calls = append(m.calls, call)
	if m.fail != nil {
		err = m.fail(call)
	}
	return m.mu.Unlock, err
}

func (m *memory) usable(userID, id string) (*blueprint.Connection, error) {
	c := m.connections[id]
	if c != nil && c.OrganizationID == nil && c.CreatedBy == userID {
		return c, nil
	}
	if c != nil && c.OrganizationID != nil {
		for _, member := range m.members[*c.OrganizationID] {
			if member == userID {
				return c, nil
			}
		}
	}
	return nil, blueprint.Errorf(blueprint.CodeNotFound, "there is no connection %s", id)
}

func (m *memory) ConnectionForUse(_ context.Context, authority blueprint.Authority, id string) (*blueprint.Connection, error) {
	leave, err := m.enter("connection")
	defer leave()
	if err != nil {
		return nil, err
	}
	c, err := m.usable(authority.PrincipalID, id)
	if err == nil {
		err = m.missing(authority, blueprint.Resource{Kind: blueprint.ResourceConnection, ID: id})
	}
	if err != nil {
		return nil, err
	}
	copied := *c
	return &copied, nil
}

// missing returns a *blueprint.MissingGrant for the first version that may not use a resource.
func (m *memory) missing(authority blueprint.Authority, resource blueprint.Resource) error {
	for _, v := range authority.Others() {
		_, err := m.usable(v.Author, resource.ID)
		if (err != nil || resource.Kind == blueprint.ResourceSignIn) && !m.granted[authority.PrincipalID+" "+v.Version] {
			return &blueprint.MissingGrant{BlueprintID: v.BlueprintID, Version: v.Version, Author: blueprint.Author{ID: v.Author}, Resource: resource}
		}
	}
	return nil
}

func (m *memory) Authorize(_ context.Context, authority blueprint.Authority, resource blueprint.Resource) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.missing(authority, resource)
}

func (m *memory) GrantVersions(_ context.Context, userID string, versions []blueprint.VersionRef) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, v := range versions {
		m.granted[userID+" "+v.Version] = true
	}
	return nil
}

func (m *memory) Token(_ context.Context, connectionID, userID string) ([]byte, error) {
	leave, err := m.enter("token")
	defer leave()
	if err == nil {
		_, err = m.usable(userID, connectionID)
	}
	if err != nil {
		return nil, err
	}
	return m.tokens[connectionID+userID], nil
}

func (m *memory) SaveToken(_ context.Context, connectionID, userID string, token, replaced []byte) error {
	leave, err := m.enter("save")
	defer leave()
	if err != nil {
		return err
	}
	if !bytes.Equal(m.tokens[connectionID+userID], replaced) {
		return blueprint.Errorf(blueprint.CodeConflict, "changed meanwhile")
	}
	m.tokens[connectionID+userID] = token
	return nil
}

func (m *memory) DeleteToken(_ context.Context, connectionID, userID string) error {
	leave, err := m.enter("delete")
	defer leave()
	if err == nil {
		delete(m.tokens, connectionID+userID)
	}
	return err
}

func (m *memory) Claim(ctx context.Context, name string) (release func(), err error) {
	m.mu.Lock()
	claim := m.claims[name]
	if claim == nil {
		claim = make(chan struct{}, 1)
		m.claims[name] = claim
	}
	m.mu.Unlock()
	release = func() { <-claim }
	select {
	case claim <- struct{}{}:
		return release, nil
	default:
	}
	if m.waits != nil {
		m.waits()
	}
	select {
	case claim <- struct{}{}:
		return release, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func (m *memory) BeginSignIn(_ context.Context, signIn blueprint.SignIn) error {
	leave, err := m.enter("begin")
	defer leave()
	if err == nil {
		_, err = m.usable(signIn.UserID, signIn.ConnectionID)
	}
	if err != nil {
		return err
	}
	pending := 0
	for _, other := range m.signIns {
		if other.ConnectionID == signIn.ConnectionID && other.UserID == signIn.UserID && !other.Ticket && m.clock.Now().Before(other.ExpiresAt.Time()) {
			pending++
		}
	}
	if pending >= 100 {
		return blueprint.Errorf(blueprint.CodeTooManyRequests, "too many")
	}
	signIn.CreatedAt = blueprint.TimeOf(m.clock.Now())
	m.signIns = append(m.signIns, signIn)
	return nil
}

func (m *memory) OpenTicket(_ context.Context, signIn blueprint.SignIn) (blueprint.SignIn, error) {
	leave, err := m.enter("ticket")
	defer leave()
	if err == nil {
		_, err = m.usable(signIn.UserID, signIn.ConnectionID)
	}
	if err != nil {
		return blueprint.SignIn{}, err
	}
	signIn.Ticket, signIn.CreatedAt = true, blueprint.TimeOf(m.clock.Now())
	find := func() *blueprint.SignIn {
		for i := range m.signIns {
			if one := &m.signIns[i]; one.Ticket && one.ConnectionID == signIn.ConnectionID && one.UserID == signIn.UserID && one.ExecutionID == signIn.ExecutionID &&
				one.Address == signIn.Address && m.clock.Now().Before(one.ExpiresAt.Time()) {
				one.CreatedAt, one.ExpiresAt = signIn.CreatedAt, signIn.ExpiresAt
				return one
			}
		}
		return nil
	}
	if one := find(); one != nil {
		return *one, nil
	}
	if m.maxTickets > 0 && len(m.signIns) >= m.maxTickets {
		signIn.ExecutionID, signIn.Address = "", ""
		if one := find(); one != nil {
			return *one, nil
		}
	}
	m.signIns = append(m.signIns, signIn)
	return signIn, nil
}

func (m *memory) FindSignIn(_ context.Context, hash []byte) (blueprint.SignIn, error) {
	leave, err := m.enter("find")
	defer leave()
	if err != nil {
		return blueprint.SignIn{}, err
	}
	for _, signIn := range m.signIns {
		if _, err := m.usable(signIn.UserID, signIn.ConnectionID); err == nil && bytes.Equal(signIn.StateHash, hash) && m.clock.Now().Before(signIn.ExpiresAt.Time()) {
			return signIn, nil
		}
	}
	return blueprint.SignIn{}, blueprint.Errorf(blueprint.CodeNotFound, "there is no such sign-in")
}

func (m *memory) User(_ context.Context, userID string) (blueprint.User, error) {
	leave, err := m.enter("user")
	defer leave()
	return blueprint.User{ID: userID, Email: userID[len(userID)-1:] + "<b>@example.com", Name: "N"}, err
}

func (m *memory) TakeSignIn(_ context.Context, hash []byte) (blueprint.SignIn, error) {
	leave, err := m.enter("take")
	defer leave()
	if err != nil {
		return blueprint.SignIn{}, err
	}
	for i, signIn := range m.signIns {
		if bytes.Equal(signIn.StateHash, hash) {
			m.signIns = append(m.signIns[:i:i], m.signIns[i+1:]...)
			if _, err := m.usable(signIn.UserID, signIn.ConnectionID); err == nil && m.clock.Now().Before(signIn.ExpiresAt.Time()) {
				return signIn, nil
			}
		}
	}
	return blueprint.SignIn{}, blueprint.Errorf(blueprint.CodeNotFound, "there is no such sign-in")
}

func (m *memory) WaitingSignIns(_ context.Context, connectionID, userID string) (list []blueprint.SignIn, err error) {
	leave, err := m.enter("waiting")
	defer leave()
	if err == nil {
		_, err = m.usable(userID, connectionID)
	}
	if err != nil {
		return nil, err
	}
	for _, signIn := range m.signIns {
		if signIn.ConnectionID == connectionID && signIn.UserID == userID && m.clock.Now().Before(signIn.ExpiresAt.Time()) {
			signIn.Secret = nil
			list = append(list, signIn)
		}
	}
	return list, nil
}
