package blueprint

import (
	"maps"
	"slices"
	"strings"
	"time"
)

// Trigger starts runs of a blueprint. Secrets in Config are null for clients who may not
// manage the blueprint.
type Trigger struct {
	ID          string         `json:"id"`
	BlueprintID string         `json:"blueprint_id"`
	Type        TriggerType    `json:"trigger_type"`
	Config      map[string]any `json:"config"`
	IsActive    bool           `json:"is_active"`
	CreatedBy   string         `json:"created_by"`
	// Edited are the keys of Config that changed since the last sync of the blueprint;
	// only in lists for users who may manage it.
	Edited []string `json:"edited,omitempty"`
	// Warnings describe what has no effect or keeps the trigger from firing; only in the
	// answers of create and update.
	Warnings []string `json:"warnings,omitempty"`
}

// BreakerPause is how long the breaker switches off a trigger without authentication.
const BreakerPause = 15 * time.Minute

// Decision is the result of a firing.
type Decision string

// The decisions of the firing ledger.
const (
	DecisionStarted   Decision = "started"   // started a run
	DecisionDuplicate Decision = "duplicate" // its key had started a run
	DecisionSkipped   Decision = "skipped"   // excluded by a filter or by catchUp
	DecisionRefused   Decision = "refused"   // not allowed or not valid
	DecisionCoalesced Decision = "coalesced" // replaced by a later tick
)

// Firing is a row of the ledger. Key is unique among a trigger's started firings.
type Firing struct {
	ID          string   `json:"id"` // ULID
	TriggerID   string   `json:"triggerId"`
	Source      Source   `json:"source"`
	Key         string   `json:"key"`
	DueAt       Time     `json:"dueAt"`
	ReceivedAt  Time     `json:"receivedAt"`
	Decision    Decision `json:"decision"`
	Reason      string   `json:"reason"` // why it was skipped or failed
	ExecutionID *string  `json:"executionId"`
	// BodyHash identifies the body where a repeated key requires the same body; else "".
	// It is never shown.
	BodyHash string `json:"-"`
	// Why is the stored reason.
	Why Reason `json:"-"`
	// SealedWhy holds its encrypted parameters; the store sets it.
	SealedWhy []byte `json:"-"`
	// Delivery is nil without a request, and in lists.
	Delivery *Delivery `json:"-"`
	// Files are the attachments.
	Files []File `json:"-"`
}

func (f *Firing) SetReason(why Reason) { f.Why, f.Reason, f.SealedWhy = why, why.String(), nil }

// ListedTrigger is a listed trigger, for a user who may manage its blueprint.
type ListedTrigger struct {
	ID             string         `json:"id"`
	BlueprintID    string         `json:"blueprint_id"`
	BlueprintTitle string         `json:"blueprint_title"`
	Type           TriggerType    `json:"trigger_type"`
	Config         map[string]any `json:"config"`
	IsActive       bool           `json:"is_active"`
	CreatedBy      string         `json:"created_by"`
	CreatorName    string         `json:"creator_name"`
	CreatedAt      Time           `json:"created_at"`
	PausedReason   *string        `json:"paused_reason"` // why the breaker paused it
	RetryAt        Time           `json:"retry_at"`      // when the next delivery activates it
	CanManage      bool           `json:"can_manage"`
	URL            *string        `json:"url"`     // nil without an address
	NextAt         Time           `json:"next_at"` // of an active schedule
	LastFiring     *LastFiring    `json:"last_firing"`
}

// LastFiring is the newest row of a trigger's ledger.
type LastFiring struct {
	ID          string   `json:"id"`
	ReceivedAt  Time     `json:"receivedAt"`
	Decision    Decision `json:"decision" words:"started|duplicate|skipped|refused|coalesced"`
	Reason      string   `json:"reason"`
	ExecutionID *string  `json:"executionId"`
}

// TriggerFilter selects triggers. Empty fields match all.
type TriggerFilter struct {
	OrganizationID string      `json:"organizationId" check:"uuid"`
	Type           TriggerType `json:"type"`
	Active         *bool       `json:"active"`
	Search         string      `json:"search" check:"max=500"` // part of the blueprint's title, of the label or of the mailbox
	Page           int         `json:"page" check:"min=1,default=1"`
	Limit          int         `json:"limit" check:"min=1,max=100,default=20"`
}

// keysOfEveryTrigger are the config keys of all types.
var keysOfEveryTrigger = []string{"label", "concurrency", "breaker", "record"}

// triggerAliases are spellings of config keys beyond snake_case.
var triggerAliases = map[string]string{"tz": "timezone", "time_zone": "timezone", "timeZone": "timezone"}

// TriggerConfigKeys returns the config keys of a trigger type.
func TriggerConfigKeys(kind TriggerType) []string {
	return slices.Concat(KindOf(kind).Keys, keysOfEveryTrigger)
}

// triggerKey returns the known key for a spelling, "" for an unknown one.
func triggerKey(known []string, name string) string {
	for _, key := range []string{name, triggerAliases[name], camelCase(name)} {
		if slices.Contains(known, key) {
			return key
		}
	}
	return ""
}

// TriggerKeySpellings returns the accepted spellings of a key, itself first.
func TriggerKeySpellings(key string) []string {
	out := []string{key}
	for alias, of := range triggerAliases {
		if of == key {
			out = append(out, alias)
		}
	}
	snake := key
	for i := len(snake) - 1; i > 0; i-- {
		if c := snake[i]; c >= 'A' && c <= 'Z' {
			snake = snake[:i] + "_" + string(c+'a'-'A') + snake[i+1:]
		}
	}
	if snake != key {
		out = append(out, snake)
	}
	slices.Sort(out[1:])
	return out
}

func camelCase(name string) string {
	parts := strings.Split(name, "_")
	for i := range parts[1:] {
		if part := parts[i+1]; part != "" {
			parts[i+1] = strings.ToUpper(part[:1]) + part[1:]
		}
	}
	return strings.Join(parts, "")
}

// TriggerConfigSpelling returns a config with keys in canonical spelling, and the
// original spellings of renamed keys. Two spellings of a key are an issue.
func TriggerConfigSpelling(kind TriggerType, config map[string]any) (out map[string]any, renamed map[string]string, issues []Issue) {
	known := TriggerConfigKeys(kind)
	for _, name := range slices.Sorted(maps.Keys(config)) {
		key := triggerKey(known, name)
		if key == "" || key == name {
			continue
		}
		if out == nil {
			out, renamed = maps.Clone(config), map[string]string{}
		}
		other, twice := renamed[key]
		if _, given := config[key]; given {
			other, twice = key, true
		}
		if twice {
			issues = append(issues, Issue{Path: []any{name}, Message: "is another spelling of " + other + ", which is also given; leave one out", Spot: Spot{OnKey: true}})
			continue
		}
		delete(out, name)
		out[key], renamed[key] = config[name], name
	}
	if out == nil {
		out = config
	}
	return out, renamed, issues
}

// UnknownTriggerKeys returns the unknown keys of a config that have a value, sorted.
func UnknownTriggerKeys(kind TriggerType, config map[string]any) (unknown []string) {
	known := TriggerConfigKeys(kind)
	for _, name := range slices.Sorted(maps.Keys(config)) {
		if config[name] != nil && !slices.Contains(known, name) {
			unknown = append(unknown, name)
		}
	}
	return unknown
}

// HoldsSecrets reports whether the config must be encrypted: it has a secret or an
// unknown key, which may be one.
func (t *Trigger) HoldsSecrets() bool {
	return len(UnknownTriggerKeys(t.Type, t.Config)) > 0 || slices.ContainsFunc(SecretTriggerConfig, func(name string) bool { return t.Config[name] != nil })
}
