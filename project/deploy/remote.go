package deploy

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"blueprintd/blueprint"
	"blueprintd/foundation/clock"
	"blueprintd/project"
)

// Remote is a server as a folder is synced with it over the network,
// through the procedures that all clients call.
type Remote struct {
	address        string
	key            string
	organizationID string // "" = the workspace of the key's owner
	client         *http.Client
}

// How long an answer may take and how large it may be, and how often a server that
// is busy is asked again.
const (
	remotePatience = time.Minute
	largestAnswer  = 256 << 20
	mostBusy       = 8
	longestBusy    = 30 * time.Second
	remotePage     = 20
)

func NewRemote(address, key, organizationID string) *Remote {
	return &Remote{address: address, key: key, organizationID: organizationID, client: &http.Client{
		Timeout:       remotePatience,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }, // the key goes nowhere else
	}}
}

// mutate calls a mutation, query a query; both decode the answer, numbers with
// their digits.
func (r *Remote) mutate(ctx context.Context, procedure string, input map[string]any, into any) error {
	body, err := blueprint.Encode(map[string]any{"json": input})
	if err != nil {
		return err
	}
	return r.call(ctx, http.MethodPost, procedure, r.address+"/api/trpc/"+procedure, body, into)
}

func (r *Remote) query(ctx context.Context, procedure string, input map[string]any, into any) error {
	text, err := blueprint.Encode(map[string]any{"json": input})
	if err != nil {
		return err
	}
	return r.call(ctx, http.MethodGet, procedure, r.address+"/api/trpc/"+procedure+"?input="+url.QueryEscape(string(text)), nil, into)
}

func (r *Remote) call(ctx context.Context, method, procedure, address string, body []byte, into any) error {
	for attempt := 1; ; attempt++ {
		again, err := r.once(ctx, method, procedure, address, body, into)
		if again == 0 || attempt == mostBusy {
			return err
		}
		due := make(chan struct{})
		timer := clock.Real{}.At(clock.Real{}.Now().Add(again), func() { close(due) })
		select {
		case <-due:
		case <-ctx.Done():
			timer.Stop()
			return context.Cause(ctx)
		}
	}
}

// answered is what a procedure answers.
type answered struct {
	Result *struct {
		Data struct {
			JSON json.RawMessage `json:"json"`
		} `json:"data"`
	} `json:"result"`
	Error *struct {
		JSON struct {
			Message string `json:"message"`
			Data    struct {
				Code string `json:"code"`
			} `json:"data"`
		} `json:"json"`
	} `json:"error"`
}

// once makes one request. A server that is busy says when to come again.
func (r *Remote) once(ctx context.Context, method, procedure, address string, body []byte, into any) (again time.Duration, err error) {
	request, err := http.NewRequestWithContext(ctx, method, address, bytes.NewReader(body))
	if err != nil {
		return 0, err
	}
	request.Header.Set("Authorization", "Bearer "+r.key)
	if body != nil {
		request.Header.Set("Content-Type", "application/json")
	}
	response, err := r.client.Do(request)
	if err != nil {
		return 0, blueprint.Hinted("check the address, and that the server runs", "%s cannot be reached: %s", r.address, remoteCause(err))
	}
	defer response.Body.Close()
	data, err := io.ReadAll(io.LimitReader(response.Body, largestAnswer))
	if err != nil {
		return 0, blueprint.Hinted("try again", "%s: the answer broke off: %s", r.address, remoteCause(err))
	}
	var answer answered
	if err := json.Unmarshal(data, &answer); err != nil || answer.Result == nil && (answer.Error == nil || answer.Error.JSON.Message == "") {
		return 0, blueprint.Hinted("check the address: the one where the server's dashboard is, such as https://flows.example.org", "%s does not answer as blueprintd does (status %d)", r.address, response.StatusCode)
	}
	if answer.Error == nil {
		decoder := json.NewDecoder(bytes.NewReader(answer.Result.Data.JSON))
		decoder.UseNumber()
		if err := decoder.Decode(into); err != nil {
			return 0, fmt.Errorf("the answer of %s to %s: %w", r.address, procedure, err)
		}
		return 0, nil
	}
	refused := blueprint.Errorf(blueprint.Code(answer.Error.JSON.Data.Code), "%s: %s", procedure, blueprint.OneLine(answer.Error.JSON.Message))
	if response.StatusCode == http.StatusUnauthorized {
		refused.Hint = "make a key with blueprintd key create, or on the dashboard"
	}
	if response.StatusCode == http.StatusTooManyRequests || response.StatusCode == http.StatusServiceUnavailable {
		seconds, _ := strconv.Atoi(response.Header.Get("Retry-After"))
		again = min(max(time.Duration(seconds)*time.Second, time.Second), longestBusy)
	}
	return again, refused
}

// remoteCause is why a request failed, without its address, which may be long.
func remoteCause(err error) error {
	if wrapped, ok := err.(*url.Error); ok { //nolint:errorlint // the outermost one
		return wrapped.Err
	}
	return err
}

// remoteBlueprint is what sync reads of a blueprint.
type remoteBlueprint struct {
	ID             string            `json:"id"`
	Title          string            `json:"title"`
	Description    string            `json:"description"`
	Status         string            `json:"status"`
	Visibility     string            `json:"visibility"`
	Version        string            `json:"version"`
	Tags           []string          `json:"tags"`
	OrganizationID string            `json:"organization_id"`
	Variables      []any             `json:"environment_variables"`
	Map            any               `json:"blueprint_map"`
	Budget         *blueprint.Budget `json:"budget"`
	Source         string            `json:"source"`
	SyncedVersion  string            `json:"synced_version"`
}

func (b *remoteBlueprint) blueprint() blueprint.Blueprint {
	return blueprint.Blueprint{
		ID: b.ID, Title: b.Title, Description: b.Description, Status: b.Status, Visibility: b.Visibility, Version: b.Version, Tags: b.Tags, OrganizationID: b.OrganizationID,
		EnvironmentVariables: b.Variables, BlueprintMap: b.Map, Budget: b.Budget, Source: b.Source, SyncedVersion: b.SyncedVersion,
	}
}

// List gives the blueprints of a source in the organization, with their triggers;
// with "" all of them, without.
func (r *Remote) List(ctx context.Context, source string) ([]project.Deployed, error) {
	var of []blueprint.Organization
	if err := r.query(ctx, "organization.list", map[string]any{}, &of); err != nil {
		return nil, err
	}
	home, err := homeAmong(of, r.organizationID)
	if err != nil {
		return nil, err
	}
	var found []project.Deployed
	for _, scope := range syncScopes {
		for page, total := 1, 1; (page-1)*remotePage < total; page++ {
			var answer struct {
				Data       []remoteBlueprint `json:"data"`
				Pagination struct {
					Total int `json:"total"`
				} `json:"pagination"`
			}
			if err := r.query(ctx, "blueprint.list", map[string]any{"scope": string(scope), "source": source, "page": page, "limit": remotePage}, &answer); err != nil {
				return nil, err
			}
			total = answer.Pagination.Total
			for i := range answer.Data {
				b := &answer.Data[i]
				if !strings.HasPrefix(b.Source, source) || b.OrganizationID != home {
					continue
				}
				d := project.Deployed{Blueprint: b.blueprint(), Foreign: scope != blueprint.ScopeOwn}
				if source != "" {
					if d.Triggers, err = r.Triggers(ctx, b.ID); err != nil {
						return nil, err
					}
				}
				found = append(found, d)
			}
		}
	}
	return found, nil
}

// Triggers gives the triggers of a blueprint.
func (r *Remote) Triggers(ctx context.Context, blueprintID string) (list []blueprint.Trigger, err error) {
	err = r.query(ctx, "blueprintTriggers.list", map[string]any{"blueprintId": blueprintID}, &list)
	return list, err
}

// Create stores a new blueprint.
func (r *Remote) Create(ctx context.Context, b blueprint.NewBlueprint) (string, error) {
	input := map[string]any{"title": b.Title, "description": b.Description, "source": b.Source, "blueprint_map": b.Map, "environment_variables": b.Variables, "tags": append([]string{}, b.Tags...)}
	for name, text := range map[string]string{"status": b.Status, "organization_id": r.organizationID} {
		if text != "" {
			input[name] = text
		}
	}
	if b.Budget.Limits() {
		input["budget"] = b.Budget
	}
	var made remoteBlueprint
	if err := r.mutate(ctx, "blueprint.create", input, &made); err != nil {
		return "", err
	}
	if made.Source != b.Source { // it would be made again and again
		return "", blueprint.Hinted("bring the server up to the version of this program", "%s does not keep where blueprints come from; it made %s, which you may delete", r.address, made.ID)
	}
	return made.ID, nil
}

// Update changes a blueprint.
func (r *Remote) Update(ctx context.Context, id string, patch blueprint.BlueprintPatch) error {
	input := map[string]any{"id": id}
	for name, text := range map[string]*string{"title": patch.Title, "description": patch.Description, "status": patch.Status, "visibility": patch.Visibility, "source": patch.Source} {
		if text != nil {
			input[name] = *text
		}
	}
	if patch.Tags != nil {
		input["tags"] = *patch.Tags
	}
	if patch.Map != nil {
		input["blueprint_map"] = *patch.Map
	}
	if patch.Variables != nil {
		input["environment_variables"] = *patch.Variables
	}
	if patch.Budget != nil {
		input["budget"] = patch.Budget
	}
	return r.mutate(ctx, "blueprint.update", input, &struct{}{})
}

// Delete deletes a blueprint.
func (r *Remote) Delete(ctx context.Context, id string) error {
	return r.mutate(ctx, "blueprint.delete", map[string]any{"id": id}, &struct{}{})
}

// CreateTrigger makes a trigger.
func (r *Remote) CreateTrigger(ctx context.Context, blueprintID string, kind blueprint.TriggerType, config map[string]any, active bool) (string, error) {
	var made blueprint.Trigger
	err := r.mutate(ctx, "blueprintTriggers.create", map[string]any{"blueprintId": blueprintID, "triggerType": string(kind), "config": config, "isActive": active}, &made)
	return made.ID, err
}

// UpdateTrigger changes a trigger.
func (r *Remote) UpdateTrigger(ctx context.Context, id string, change map[string]any, isActive *bool) error {
	input := map[string]any{"triggerId": id}
	if change != nil {
		input["config"] = change
	}
	if isActive != nil {
		input["isActive"] = *isActive
	}
	return r.mutate(ctx, "blueprintTriggers.update", input, &struct{}{})
}

// DeleteTrigger deletes a trigger.
func (r *Remote) DeleteTrigger(ctx context.Context, id string) error {
	return r.mutate(ctx, "blueprintTriggers.delete", map[string]any{"triggerId": id}, &struct{}{})
}
