import { Anchor } from '@mantine/core'
import { Link } from 'wouter'
import { useSignedIn } from '../../api/session'
import { CopyField, KeyValue, Time } from '../../parts'
import classes from './triggers.module.css'
import { textOf, type Trigger } from './types'
import { triggerFactsText } from '../../text/triggers'
import { commonText } from '../../text/common'

/** The settings of a trigger in words, with its address first. */
export function TriggerFacts({ trigger }: { trigger: Trigger }) {
  const { user } = useSignedIn()
  const { trigger_type: type, config } = trigger
  const address = type === 'email' ? textOf(config, 'address') : trigger.url
  const secret = textOf(config, type === 'slack' ? 'signingSecret' : 'secret')
  const previous = textOf(config, type === 'slack' ? 'previousSigningSecretUntil' : 'previousSecretUntil')
  return (
    <section className={classes.box} style={{ marginBottom: 18 }} aria-label={commonText.settings}>
      {address && (
        <CopyField
          label={
            type === 'email'
              ? triggerFactsText.mailAddress
              : type === 'slack'
                ? triggerFactsText.requestUrlForSlack
                : triggerFactsText.url
          }
          value={address}
        />
      )}
      {type === 'webhook' && address && trigger.is_active && config.form !== undefined && config.form !== null && (
        <Anchor href={address} target="_blank" rel="noreferrer">
          {triggerFactsText.openTheForm}
        </Anchor>
      )}
      {secret && <CopyField label={commonText.secret} value={secret} secret />}
      <KeyValue
        pairs={[
          [
            commonText.blueprint,
            <Anchor component={Link} href={`/blueprints/${trigger.blueprint_id}`} inherit>
              {trigger.blueprint_title}
            </Anchor>,
          ],
          [triggerFactsText.expression, type === 'scheduled' && <code>{textOf(config, 'cron')}</code>],
          [
            triggerFactsText.nextRun,
            type === 'scheduled' &&
              (trigger.next_at ? (
                <>
                  <Time at={trigger.next_at} />, <Time at={trigger.next_at} absolute />
                </>
              ) : trigger.is_active ? (
                triggerFactsText.none
              ) : (
                triggerFactsText.noneWhilePaused
              )),
          ],
          [
            triggerFactsText.missedRuns,
            (type === 'scheduled' &&
              { all: triggerFactsText.runAll, none: triggerFactsText.skip }[textOf(config, 'catchUp')]) ||
              (type === 'scheduled' && triggerFactsText.runOnce),
          ],
          [
            commonText.response,
            type === 'webhook' &&
              (textOf(config, 'respond') === 'wait'
                ? triggerFactsText.theOutputOfTheRun
                : triggerFactsText.acceptedImmediately),
          ],
          [
            triggerFactsText.previousSecret,
            previous !== '' && (
              <>
                {triggerFactsText.validUntil} <Time at={previous} absolute />
              </>
            ),
          ],
          [
            triggerFactsText.accepts,
            type === 'email' &&
              (Array.isArray(config.allowFrom) ? config.allowFrom.join(', ') : triggerFactsText.mailFromEveryone),
          ],
          [
            commonText.sender,
            type === 'email' &&
              (config.requireAuth === true ? triggerFactsText.mustBeAuthenticated : triggerFactsText.notChecked),
          ],
          [
            triggerFactsText.fromBlueprint,
            type === 'event' && textOf(config, 'blueprintId') !== '' && (
              <Anchor component={Link} href={`/blueprints/${textOf(config, 'blueprintId')}`} inherit>
                {textOf(config, 'blueprintId')}
              </Anchor>
            ),
          ],
          [
            commonText.input,
            type === 'api' &&
              (config.inputSchema ? triggerFactsText.mustMatchTheSchema : triggerFactsText.anyJsonObject),
          ],
          [triggerFactsText.limit, concurrencyWords(config.concurrency)],
          [triggerFactsText.failingRuns, config.breaker === false && triggerFactsText.doNotPauseTheTrigger],
          [
            triggerFactsText.runsAs,
            trigger.created_by === user.id ? triggerFactsText.you(trigger.creator_name) : trigger.creator_name,
          ],
          [commonText.created, <Time at={trigger.created_at} past />],
          [triggerFactsText.triggerId, <code>{trigger.id}</code>],
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
      ? triggerFactsText.furtherRunsAreSkipped
      : onLimit === 'cancel-running'
        ? triggerFactsText.aFurtherRunCancelsTheOldest
        : triggerFactsText.furtherRunsAreQueued
  return triggerFactsText.concurrentRuns(Number(limit), then)
}
