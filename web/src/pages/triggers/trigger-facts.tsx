import { Anchor } from '@mantine/core'
import { Link } from 'wouter'
import { useSignedIn } from '../../api/session'
import { CopyField, KeyValue, Time } from '../../parts'
import classes from './triggers.module.css'
import { textOf, type Trigger } from './types'

/** What a trigger is set to, in words, and the address that one most often wants. */
export function TriggerFacts({ trigger }: { trigger: Trigger }) {
  const { user } = useSignedIn()
  const { trigger_type: type, config } = trigger
  const address = type === 'email' ? textOf(config, 'address') : trigger.url
  const previous = textOf(config, type === 'slack' ? 'previousSigningSecretUntil' : 'previousSecretUntil')
  return (
    <section className={classes.box} style={{ marginBottom: 18 }} aria-label="What it is set to">
      {address && <CopyField label={type === 'email' ? 'Mail address' : type === 'slack' ? 'Request URL for Slack' : 'Address'} value={address} />}
      <KeyValue
        pairs={[
          ['Starts', <Anchor component={Link} href={`/blueprints/${trigger.blueprint_id}`} inherit>{trigger.blueprint_title}</Anchor>],
          ['Expression', type === 'scheduled' && <code>{textOf(config, 'cron')}</code>],
          ['Next run', type === 'scheduled' && (trigger.next_at ? <><Time at={trigger.next_at} />, <Time at={trigger.next_at} absolute /></> : trigger.is_active ? 'none' : 'none while it is switched off')],
          ['Missed times', type === 'scheduled' && { all: 'each of them runs', none: 'are left out' }[textOf(config, 'catchUp')] || (type === 'scheduled' && 'the last one runs for all')],
          ['Answer', type === 'webhook' && (textOf(config, 'respond') === 'wait' ? 'what the run answers' : 'accepted, at once')],
          ['Earlier secret', previous !== '' && <>is good until <Time at={previous} absolute /></>],
          ['Lets in', type === 'email' && (Array.isArray(config.allowFrom) ? config.allowFrom.join(', ') : 'mail from everybody')],
          ['Sender', type === 'email' && (config.requireAuth === true ? 'must be proven' : 'is not checked')],
          ['Of blueprint', type === 'event' && textOf(config, 'blueprintId') !== '' && <Anchor component={Link} href={`/blueprints/${textOf(config, 'blueprintId')}`} inherit>{textOf(config, 'blueprintId')}</Anchor>],
          ['Input', type === 'api' && (config.inputSchema ? 'must fit a schema' : 'any JSON object')],
          ['Limit', lane(config.concurrency)],
          ['Failing runs', config.breaker === false && 'never switch it off'],
          ['Runs as', trigger.created_by === user.id ? `you (${trigger.creator_name})` : trigger.creator_name],
          ['Created', <Time at={trigger.created_at} past />],
        ]}
      />
    </section>
  )
}

function lane(value: unknown): string | false {
  if (typeof value !== 'object' || value === null) return false
  const { limit, onLimit } = value as { limit?: unknown; onLimit?: unknown }
  const then = onLimit === 'skip' ? 'one more is left out' : onLimit === 'cancel-running' ? 'one more cancels the oldest' : 'more wait for their turn'
  return `${String(limit)} ${limit === 1 ? 'run' : 'runs'} at once; ${then}`
}
