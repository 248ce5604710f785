package store

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"blueprintd/blueprint"
	"blueprintd/store/postgres"
)

// summarized selects the blueprints of each scope of user ?1.
var summarized = map[blueprint.Scope]string{
	blueprint.ScopeAll:    "(" + listed[blueprint.ScopeOwn] + " OR " + listed[blueprint.ScopeShared] + ")",
	blueprint.ScopeOwn:    listed[blueprint.ScopeOwn],
	blueprint.ScopeShared: listed[blueprint.ScopeShared],
	blueprint.ScopePublic: listed[blueprint.ScopePublic],
	blueprint.ScopeFavorites: "b.id IN (SELECT f.blueprint_id FROM favorites f WHERE f.user_id = ?1) AND (b.visibility = 'public' OR " +
		listed[blueprint.ScopeOwn] + " OR " + listed[blueprint.ScopeShared] + ")",
}

// summaryOrders are the orders of a list by name.
var summaryOrders = map[string]string{
	"created": "b.created_at DESC, b.id DESC",
	"updated": "b.updated_at DESC, b.id DESC",
	"title":   "b.title_fold, b.id",
}

// countedMap is the maximum size of a map whose nodes are counted, in bytes.
const countedMap = 512 << 10

// summaryColumns selects a summary of blueprint b as user ?1 sees it.
const summaryColumns = `b.id, b.title, b.description, b.status, b.visibility, b.version, b.tags, b.created_by, u.name, b.organization_id, o.name,
	b.created_at, b.updated_at, b.rating_sum, b.rating_count, EXISTS (SELECT 1 FROM favorites f WHERE f.blueprint_id = b.id AND f.user_id = ?1),
	CASE WHEN content.map IS NULL THEN '{}' WHEN octet_length(content.map) <= ?7 THEN content.map END,
	(SELECT count(*) FROM triggers t WHERE t.blueprint_id = b.id AND t.deleted_at IS NULL),
	(SELECT count(*) FROM triggers t WHERE t.blueprint_id = b.id AND t.deleted_at IS NULL AND t.is_active = 1),
	` + accessLevel

const summaryTables = ` JOIN blueprints b ON b.seq = p.seq
	JOIN users u ON u.id = b.created_by JOIN organizations o ON o.id = b.organization_id
	JOIN blueprint_versions v ON v.blueprint_id = b.id AND v.version = b.version
	JOIN blueprint_contents content ON content.blueprint_id = b.id AND content.version = v.content_version `

// ListSummaries returns a page of blueprints, and the number of all of them.
// CodeForbidden for an organization of which the principal is not a member, whether it
// exists or not.
func (s *Store) ListSummaries(ctx context.Context, principal blueprint.Principal, filter blueprint.SummaryFilter) (list []blueprint.BlueprintSummary, total int, err error) {
	defer wrap(&err, "summaries of blueprints for user %s", principal.UserID)
	scope, order := summarized[filter.Scope], summaryOrders[filter.Sort]
	if scope == "" || order == "" {
		return nil, 0, blueprint.Errorf(blueprint.CodeBadRequest, "there is no such scope or order")
	}
	where := " WHERE b.deleted_at IS NULL AND " + scope + ` AND (?2 = '' OR b.status = ?2)
		AND (?3 = '' OR instr(b.title_fold, ?3) > 0 OR instr(b.description_fold, ?3) > 0)
		AND (?4 = '' OR b.seq IN (SELECT CAST(value AS BIGINT) FROM json_each(?4) tagged))
		AND (?5 = '' OR EXISTS (SELECT 1 FROM blueprint_categories x WHERE x.blueprint_id = b.id AND x.category_id = ?5))
		AND (?6 = '' OR b.organization_id = ?6)`
	query := "SELECT " + summaryColumns + " FROM (SELECT b.seq FROM blueprints b" + where + " ORDER BY " + order + " LIMIT ?8 OFFSET ?9) p" + summaryTables + "ORDER BY " + order
	list = []blueprint.BlueprintSummary{}
	err = s.read(ctx, func(q *session) error {
		if filter.OrganizationID != "" {
			if err := memberOf(q, principal, filter.OrganizationID); err != nil {
				return err
			}
		}
		tagged, err := taggedBlueprints(q, principal, scope, filter.Tag)
		if err != nil {
			return err
		}
		args := []any{principal.UserID, filter.Status, fold(filter.Search), tagged, filter.CategoryID, filter.OrganizationID}
		if err := q.row("SELECT count(*) FROM blueprints b"+where, args, &total); err != nil {
			return err
		}
		err = collect(q, &list, query, append(args, countedMap, filter.Limit, (filter.Page-1)*filter.Limit), func(scan scanner) (blueprint.BlueprintSummary, error) {
			one, err := scanSummary(scan)
			one.IsOwner = one.CreatedBy == principal.UserID
			return one, err
		})
		if err != nil {
			return err
		}
		return s.complete(q, principal, list)
	})
	return list, total, err
}

func scanSummary(scan scanner) (b blueprint.BlueprintSummary, err error) {
	var (
		tags   []byte
		nodes  []byte
		rating float64
		access blueprint.Access
	)
	err = scan(&b.ID, &b.Title, &b.Description, &b.Status, &b.Visibility, &b.Version, &tags, &b.CreatedBy, &b.CreatorName, &b.OrganizationID, &b.OrganizationName,
		&b.CreatedAt, &b.UpdatedAt, &rating, &b.RatingCount, &b.IsFavorited, &nodes, &b.Triggers.Total, &b.Triggers.Active, &access)
	if err != nil {
		return b, err
	}
	b.CanManage = access >= blueprint.AccessManage
	b.AverageRating, b.RecentRuns = average(rating, b.RatingCount), []blueprint.LastRun{}
	if err := json.Unmarshal(tags, &b.Tags); err != nil {
		return b, fmt.Errorf("tags of blueprint %s: %w", b.ID, err)
	}
	if nodes != nil {
		count := countNodes(nodes)
		b.NodeCount = &count
	}
	return b, nil
}

// countNodes returns the number of nodes of a stored map, 0 if it has no list of them.
func countNodes(data []byte) int {
	var m map[string]json.RawMessage
	var nodes []json.RawMessage
	if json.Unmarshal(data, &m) != nil || json.Unmarshal(m["nodes"], &nodes) != nil {
		return 0
	}
	return len(nodes)
}

// scanTags reads a row of seq and tags of a blueprint.
func scanTags(scan scanner, seq *int64) (tags []string, err error) {
	var data []byte
	if err := scan(seq, &data); err != nil {
		return nil, err
	}
	if err := json.Unmarshal(data, &tags); err != nil {
		return nil, fmt.Errorf("tags of a blueprint: %w", err)
	}
	return tags, nil
}

// taggedBlueprints returns a JSON list of the seqs of the blueprints in a scope that have a
// tag, "" for no tag. The database selects those whose tags contain its encoding, which
// two adjacent tags may do as well.
func taggedBlueprints(q *session, principal blueprint.Principal, scope, tag string) (string, error) {
	if tag == "" {
		return "", nil
	}
	encoded, err := encodeTags([]string{tag})
	if err != nil {
		return "", err
	}
	list := []byte{'['}
	query := "SELECT b.seq, b.tags FROM blueprints b WHERE b.deleted_at IS NULL AND " + scope + " AND instr(b.tags, ?2) > 0"
	err = q.each(query, []any{principal.UserID, encoded[1 : len(encoded)-1]}, func(scan scanner) error {
		var seq int64
		tags, err := scanTags(scan, &seq)
		if slices.Contains(tags, tag) {
			list = append(strconv.AppendInt(list, seq, 10), ',')
		}
		return err
	})
	return strings.TrimSuffix(string(list), ",") + "]", err
}

// ownLately is the number of a user's newest runs that are searched for those of blueprints
// that the user cannot manage.
const ownLately = 500

// mostRecent is the maximum number of recent runs in a summary.
const mostRecent = 10

// recentRuns selects the newest ?2 runs of any user of each blueprint of the list ?1 of ids,
// which only a user who can manage the blueprint may see.
const recentRuns = `SELECT b.id, x.id, x.status, x.start_time, coalesce(x.end_time, 0) FROM json_each(?1) list JOIN blueprints b ON b.id = list.value
	JOIN executions x ON x.seq IN (SELECT r.seq FROM executions r WHERE r.blueprint_seq = b.seq ORDER BY r.created_at DESC, r.seq DESC LIMIT ?2)
	ORDER BY x.created_at DESC, x.seq DESC`

// recentOwnRuns selects the newest ?2 runs of user ?1.
const recentOwnRuns = `SELECT (SELECT id FROM blueprints WHERE seq = x.blueprint_seq), x.id, x.status, x.start_time, coalesce(x.end_time, 0) FROM executions x
	WHERE x.user_seq = (SELECT seq FROM users WHERE id = ?1) ORDER BY x.created_at DESC, x.seq DESC LIMIT ?2`

// complete adds the results of other queries to summaries.
func (s *Store) complete(q *session, principal blueprint.Principal, list []blueprint.BlueprintSummary) (err error) {
	byID := map[string]*blueprint.BlueprintSummary{}
	managed := []string{}
	for i := range list {
		b := &list[i]
		if b.Categories, err = categoriesOf(q, b.ID); err != nil {
			return err
		}
		if byID[b.ID] = b; b.CanManage {
			managed = append(managed, b.ID)
		}
	}
	ids, err := blueprint.Encode(managed)
	if err != nil {
		return err
	}
	if err := addRecent(q, byID, true, recentRuns, string(ids), mostRecent); err != nil || len(managed) == len(list) {
		return err
	}
	return addRecent(q, byID, false, recentOwnRuns, principal.UserID, ownLately)
}

// addRecent adds the runs that a query selects, newest first, to those summaries whose
// blueprint the user can manage, or cannot.
func addRecent(q *session, byID map[string]*blueprint.BlueprintSummary, managed bool, query string, args ...any) error {
	return q.each(query, args, func(scan scanner) error {
		var of string
		var run blueprint.LastRun
		err := scan(&of, &run.ExecutionID, &run.Status, &run.StartTime, &run.EndTime)
		b := byID[of]
		if b == nil || b.CanManage != managed || len(b.RecentRuns) == mostRecent {
			return err
		}
		if b.RecentRuns = append(b.RecentRuns, run); b.LastRun == nil {
			b.LastRun = &run
		}
		return err
	})
}

// ListTags counts the tags of own and shared blueprints, most used first, at most limit.
func (s *Store) ListTags(ctx context.Context, principal blueprint.Principal, limit int) (list []blueprint.TagCount, err error) {
	defer wrap(&err, "tags for user %s", principal.UserID)
	const query = "SELECT b.seq, b.tags FROM blueprints b WHERE b.deleted_at IS NULL AND b.tags <> '[]' AND "
	counts := map[string]int{}
	err = s.read(ctx, func(q *session) error {
		return q.each(query+summarized[blueprint.ScopeAll], []any{principal.UserID}, func(scan scanner) error {
			var seq int64
			tags, err := scanTags(scan, &seq)
			slices.Sort(tags)
			for _, tag := range slices.Compact(tags) {
				counts[tag]++
			}
			return err
		})
	})
	list = []blueprint.TagCount{}
	for tag, count := range counts {
		list = append(list, blueprint.TagCount{Tag: tag, Count: count})
	}
	slices.SortFunc(list, func(a, b blueprint.TagCount) int {
		return cmp.Or(cmp.Compare(b.Count, a.Count), cmp.Compare(a.Tag, b.Tag))
	})
	return list[:min(limit, len(list))], err
}

// CountBlueprints returns how many blueprints of the principal count for the plan's limit.
func (s *Store) CountBlueprints(ctx context.Context, principal blueprint.Principal) (count int, err error) {
	defer wrap(&err, "count blueprints of user %s", principal.UserID)
	return readValue(ctx, s, func(q *session) (int, error) { return countBlueprints(q, principal) })
}

func countBlueprints(q *session, principal blueprint.Principal) (count int, err error) {
	err = q.row("SELECT count(*) FROM blueprints WHERE created_by = ? AND deleted_at IS NULL", []any{principal.UserID}, &count)
	return count, err
}

// Rate sets the principal's rating of a blueprint that they may see: above 0,
// up to 5; 0 removes it. CodeNotFound, CodeForbidden, or CodeBadRequest.
func (s *Store) Rate(ctx context.Context, principal blueprint.Principal, id string, rating float64) (opinions blueprint.Ratings, err error) {
	defer wrap(&err, "rate blueprint %s for user %s", id, principal.UserID)
	if math.IsNaN(rating) || rating < 0 || rating > 5 {
		return opinions, blueprint.Errorf(blueprint.CodeBadRequest, "rating: must be a number from 0 to 5")
	}
	return s.opine(ctx, principal, id, map[string]any{"rating": rating}, func(t *transaction) error {
		if rating == 0 {
			_, err = t.exec("DELETE FROM ratings WHERE blueprint_id = ? AND user_id = ?", id, principal.UserID)
		} else {
			_, err = t.exec(`INSERT INTO ratings (blueprint_id, user_id, rating) VALUES (?, ?, ?)
				ON CONFLICT (blueprint_id, user_id) DO UPDATE SET rating = excluded.rating`, id, principal.UserID, rating)
		}
		if err != nil {
			return err
		}
		_, err = t.exec(`UPDATE blueprints SET (rating_sum, rating_count) =
			(SELECT coalesce(sum(rating), 0.0), count(*) FROM ratings WHERE blueprint_id = ?1) WHERE id = ?1`, id)
		return err
	})
}

// Favorite adds a blueprint that the principal may see to their favorites, or removes it.
// CodeNotFound, or CodeForbidden.
func (s *Store) Favorite(ctx context.Context, principal blueprint.Principal, id string, favorite bool) (_ blueprint.Ratings, err error) {
	defer wrap(&err, "favorite blueprint %s for user %s", id, principal.UserID)
	change := "DELETE FROM favorites WHERE blueprint_id = ? AND user_id = ?"
	if favorite {
		change = "INSERT INTO favorites (blueprint_id, user_id) VALUES (?, ?) ON CONFLICT DO NOTHING"
	}
	return s.opine(ctx, principal, id, nil, func(t *transaction) error {
		_, err := t.exec(change, id, principal.UserID)
		return err
	})
}

// opine makes a change and returns the opinions after it.
func (s *Store) opine(ctx context.Context, principal blueprint.Principal, id string, detail map[string]any, change func(*transaction) error) (o blueprint.Ratings, err error) {
	const query = `SELECT b.rating_sum, b.rating_count, r.rating,
		EXISTS (SELECT 1 FROM favorites f WHERE f.blueprint_id = b.id AND f.user_id = ?1)
		FROM blueprints b LEFT JOIN ratings r ON r.blueprint_id = b.id AND r.user_id = ?1 WHERE b.id = ?2`
	read := func(t *transaction) (o blueprint.Ratings, err error) {
		var sum float64
		err = t.row(query, []any{principal.UserID, id}, &sum, &o.RatingCount, &o.UserRating, &o.IsFavorited)
		o.AverageRating = average(sum, o.RatingCount)
		return o, err
	}
	err = s.write(ctx, func(t *transaction) error {
		if _, err := accessTo(t.session, principal.UserID, id, blueprint.AccessView); err != nil {
			return err
		}
		before, err := read(t)
		if err != nil {
			return err
		}
		if err := change(t); err != nil {
			return err
		}
		if o, err = read(t); err != nil {
			return err
		}
		if reflect.DeepEqual(before, o) {
			return t.unchanged(ctx)
		}
		return s.auditOfBlueprint(ctx, t, id, subject{kind: "blueprint", id: id, detail: detail})
	})
	return o, err
}

// hourMs is one hour in milliseconds.
const hourMs = 3_600_000

// hourOf returns the hour of an instant, counted from 1970.
func hourOf(at blueprint.Time) int64 { return int64(at) / hourMs }

// hourCounts counts the runs that end in one transaction of the writer, so that the counts
// of each blueprint and organization are written once per transaction. A job that is undone
// alone is not counted.
type hourCounts struct {
	sums  map[runHour]blueprint.RunSums
	order []runHour // of arrival, so that the writes do not depend on the order of the map
}

// runHour is the key of a row of run_hours.
type runHour struct {
	scope string
	hour  int64
}

func (e *hourCounts) forget() {
	clear(e.sums)
	e.order = e.order[:0]
}

// add counts a run that has ended, if row is not nil.
func (e *hourCounts) add(row *blueprint.ExecutionRow) {
	if row == nil {
		return
	}
	took := max(0, int64(row.EndTime-row.StartTime))
	one := blueprint.RunSums{Duration: took, Slowest: took}
	if one.Completed = 1; row.Status == blueprint.StatusFailed {
		one.Completed, one.Failed = 0, 1
	}
	if e.sums == nil {
		e.sums = map[runHour]blueprint.RunSums{}
	}
	for _, scope := range [...]string{row.BlueprintID, row.OrganizationID} {
		key := runHour{scope, hourOf(row.EndTime)}
		sums, known := e.sums[key]
		if !known {
			e.order = append(e.order, key)
		}
		sums.Add(one)
		e.sums[key] = sums
	}
}

const addRunHour = `INSERT INTO run_hours (scope, hour, completed, failed, duration_ms, slowest_ms) VALUES (?, ?, ?, ?, ?, ?)
	ON CONFLICT (scope, hour) DO UPDATE SET completed = run_hours.completed + excluded.completed, failed = run_hours.failed + excluded.failed,
	duration_ms = run_hours.duration_ms + excluded.duration_ms,
	slowest_ms = CASE WHEN excluded.slowest_ms > run_hours.slowest_ms THEN excluded.slowest_ms ELSE run_hours.slowest_ms END`

// appendTo appends the statements that add the counts to run_hours.
func (e *hourCounts) appendTo(list []postgres.Query) []postgres.Query {
	for _, key := range e.order {
		sums := e.sums[key]
		list = append(list, postgres.Query{Text: addRunHour, Arguments: []any{key.scope, key.hour, sums.Completed, sums.Failed, sums.Duration, sums.Slowest}})
	}
	return list
}

// The scopes of run_hours that belong to a filter's key ?1.
const (
	oneScope  = "SELECT ?1"
	ownScopes = "SELECT organization_id FROM memberships WHERE user_id = ?1"
)

// mostUnderWay is the maximum number of runs searched for unfinished ones.
const mostUnderWay = 5000

// underWay counts, by status, those of the newest ?4 unfinished runs that user ?1 may see:
// of blueprint ?2, of organization ?3, or with neither of all organizations of the user.
const underWay = `SELECT e.status, count(*) FROM (SELECT seq FROM executions INDEXED BY executions_unfinished WHERE end_time IS NULL ORDER BY created_at DESC LIMIT ?4) newest
	CROSS JOIN executions e JOIN blueprints b ON b.seq = e.blueprint_seq JOIN organizations o ON o.seq = e.organization_seq
	WHERE e.seq = newest.seq AND CASE WHEN ?2 <> '' THEN b.id = ?2 WHEN ?3 <> '' THEN o.id = ?3
		ELSE o.id IN (SELECT organization_id FROM memberships WHERE user_id = ?1) END
	AND (e.user_seq = (SELECT seq FROM users WHERE id = ?1) OR b.deleted_at IS NULL AND ` + mayManage + `) GROUP BY e.status`

// RunHours returns how many runs ended in each hour of a period, and how many have not
// ended yet: of a blueprint to a user who can manage it (CodeNotFound, or CodeForbidden),
// of an organization to its members (CodeForbidden), or of all of the principal's.
func (s *Store) RunHours(ctx context.Context, principal blueprint.Principal, filter blueprint.HoursFilter) (found blueprint.RunHours, err error) {
	defer wrap(&err, "hours of runs for user %s", principal.UserID)
	user, key, query := principal.UserID, principal.UserID, endedIn(ownScopes)
	err = s.read(ctx, func(q *session) error {
		if filter.OrganizationID != "" {
			if err := memberOf(q, principal, filter.OrganizationID); err != nil {
				return err
			}
			key, query = filter.OrganizationID, endedIn(oneScope)
		}
		if filter.BlueprintID != "" {
			if _, err := accessTo(q, user, filter.BlueprintID, blueprint.AccessManage); err != nil {
				return err
			}
			key, query = filter.BlueprintID, endedIn(oneScope)
		}
		if err := collect(q, &found.Hours, query, []any{key, filter.From, filter.To}, runHourFields); err != nil {
			return err
		}
		return q.each(underWay, []any{user, filter.BlueprintID, filter.OrganizationID, mostUnderWay}, func(scan scanner) error {
			var status blueprint.Status
			var count int
			err := scan(&status, &count)
			if status == blueprint.StatusPaused {
				found.Paused = count
			} else {
				found.Running = count
			}
			return err
		})
	})
	return found, err
}

// ServerHours returns how many runs of all users ended in each hour from one to before
// another, counted from 1970. Hours without a run are left out.
func (s *Store) ServerHours(ctx context.Context, from, to int64) (hours []blueprint.RunHour, err error) {
	defer wrap(&err, "hours of all runs")
	return hours, s.read(ctx, func(q *session) error {
		return collect(q, &hours, endedIn("SELECT id FROM organizations WHERE id <> ?1"), []any{"", from, to}, runHourFields)
	})
}

var runHourFields = fields(func(one *blueprint.RunHour) []any {
	return []any{&one.Hour, &one.Completed, &one.Failed, &one.Duration, &one.Slowest}
})

// endedIn returns the query of the sums of the hours from ?2 to before ?3 of some scopes.
func endedIn(scopes string) string {
	return `SELECT hour, sum(completed), sum(failed), sum(duration_ms), max(slowest_ms) FROM run_hours
		WHERE scope IN (` + scopes + `) AND hour >= ?2 AND hour < ?3 GROUP BY hour ORDER BY hour`
}
