-- The audit log says of an answer by approval link that a link was used.
-- readable from: 10

ALTER TABLE audit_log DROP CONSTRAINT audit_log_via_check;
ALTER TABLE audit_log ADD CONSTRAINT audit_log_via_check CHECK (via IN ('api', 'dashboard', 'cli', 'link'));
UPDATE audit_log SET via = 'link' WHERE action = 'execution.answerByLink';
