-- The audit log says of an answer by approval link that a link was used.

ALTER TABLE audit_log RENAME TO audit_log_10;
CREATE TABLE audit_log (
  seq             INTEGER PRIMARY KEY,
  id              TEXT NOT NULL CHECK (length(id) = 26), -- ULID
  at              INTEGER NOT NULL,
  actor_id        TEXT NOT NULL, -- '' = on the command line, or with a link
  organization_id TEXT NOT NULL, -- whose admins may read it; '' = only the actor
  action          TEXT NOT NULL CHECK (action <> ''),
  target_type     TEXT NOT NULL,
  target_id       TEXT NOT NULL,
  via             TEXT NOT NULL CHECK (via IN ('api', 'dashboard', 'cli', 'link')),
  detail          TEXT NOT NULL CHECK (json_valid(detail))
) STRICT;
INSERT OR FAIL INTO audit_log (seq, id, at, actor_id, organization_id, action, target_type, target_id, via, detail)
  SELECT seq, id, at, actor_id, organization_id, action, target_type, target_id, CASE action WHEN 'execution.answerByLink' THEN 'link' ELSE via END, detail
  FROM audit_log_10 ORDER BY seq;
DROP TABLE audit_log_10;
CREATE INDEX audit_log_actor ON audit_log (actor_id) WHERE actor_id <> '';
CREATE INDEX audit_log_organization ON audit_log (organization_id) WHERE organization_id <> '';
