import { Anchor } from '@mantine/core'
import { Link } from 'wouter'
import { useSignedIn } from '../../api/session'
import { CopyField, KeyValue, Time } from '../../parts'
import classes from './triggers.module.css'
import { textOf, type Trigger } from './types'

/** The settings of a trigger in words, with its address first. */
export function TriggerFacts({ trigger }: { trigger: Trigger }) {
  const { user } = useSignedIn()
  const { trigger_type: type, config } = trigger
  const address = type === 'email' ? textOf(config, 'address') : trigger.url
  const previous = textOf(config, type === 'slack' ? 'previousSigningSecretUntil' : 'previousSecretUntil')
  return (
    <section className={classes.box} style={{ marginBottom: 18 }} aria-label="Settings">
      {address && (
        <CopyField
          label={type === 'email' ? 'Mail address' : type === 'slack' ? 'Request URL for Slack' : 'Address'}
          value={address}
        />
      )}
      <KeyValue
        pairs={[
          [
            'Starts',
            <Anchor component={Link} href={`/blueprints/${trigger.blueprint_id}`} inherit>
              {trigger.blueprint_title}
            </Anchor>,
          ],
          ['Expression', type === 'scheduled' && <code>{textOf(config, 'cron')}</code>],
          [
            'Next run',
            type === 'scheduled' &&
              (trigger.next_at ? (
                <>
                  <Time at={trigger.next_at} />, <Time at={trigger.next_at} absolute />
                </>
              ) : trigger.is_active ? (
                'none'
              ) : (
                'none while switched off'
              )),
          ],
          [
            'Missed times',
            (type === 'scheduled' && { all: 'run each', none: 'skip' }[textOf(config, 'catchUp')]) ||
              (type === 'scheduled' && 'run once for all'),
          ],
          [
            'Response',
            type === 'webhook' &&
              (textOf(config, 'respond') === 'wait' ? 'the output of the run' : 'accepted immediately'),
          ],
          [
            'Earlier secret',
            previous !== '' && (
              <>
                valid until <Time at={previous} absolute />
              </>
            ),
          ],
          [
            'Accepts',
            type === 'email' && (Array.isArray(config.allowFrom) ? config.allowFrom.join(', ') : 'mail from anyone'),
          ],
          ['Sender', type === 'email' && (config.requireAuth === true ? 'must be authenticated' : 'not checked')],
          [
            'From blueprint',
            type === 'event' && textOf(config, 'blueprintId') !== '' && (
              <Anchor component={Link} href={`/blueprints/${textOf(config, 'blueprintId')}`} inherit>
                {textOf(config, 'blueprintId')}
              </Anchor>
            ),
          ],
          ['Input', type === 'api' && (config.inputSchema ? 'must match the schema' : 'any JSON object')],
          ['Limit', concurrencyWords(config.concurrency)],
          ['Failing runs', config.breaker === false && 'do not switch it off'],
          ['Runs as', trigger.created_by === user.id ? `you (${trigger.creator_name})` : trigger.creator_name],
          ['Created', <Time at={trigger.created_at} past />],
        ]}
      />
    </section>
  )
}

function concurrencyWords(value: unknown): string | false {
  if (typeof value !== 'object' || value === null) return false
  const { limit, onLimit } = value as { limit?: unknown; onLimit?: unknown }
  const then =
    onLimit === 'skip'
      ? 'further runs are skipped'
      : onLimit === 'cancel-running'
        ? 'a further run cancels the oldest'
        : 'further runs are queued'
  return `${String(limit)} ${limit === 1 ? 'run' : 'runs'} at once; ${then}`
}
