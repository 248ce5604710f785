import { inWords as durationInWords } from '../forms/duration'
import type { Schema } from '../forms/types'
import { type MapNode, isObject } from '../graph/map'
import type { NodeTypeInfo } from './types'
import { behaviourText } from '../text/inspector'
import { commonText } from '../text/common'

/** The members of a node that define how it runs. */
export const behaviourKeys = ['onError', 'retry', 'timeoutMs', 'effect', 'disabled'] as const

const onErrorWords = new Map(
  Object.entries<string>({
    stop: behaviourText.theRunFailsNoFurtherNode,
    continue: behaviourText.theRunContinuesTheOutputOf,
    branch: behaviourText.onlyTheEdgesOfTheError,
  }),
)

const effectWords = new Map(
  Object.entries<string>({
    pure: behaviourText.hasNoEffectOutsideTheRun,
    idempotent: behaviourText.canSafelyBeSentTwiceBecause,
    once: behaviourText.mustNotHappenTwiceIfA,
  }),
)

const effectLabels = new Map(
  Object.entries<string>({
    pure: behaviourText.pure,
    idempotent: behaviourText.idempotent,
    once: behaviourText.once,
  }),
)

/** The schema of the members that define how a node runs, with descriptions that fit the node. */
export function behaviourSchema(node: MapNode, type: Pick<NodeTypeInfo, 'effect' | 'waits'> | undefined): Schema {
  const effect = type?.effect
  const chosen = typeof node.onError === 'string' ? node.onError : 'stop'
  const own = effect && effectLabels.get(effect) ? effect : undefined
  const now = typeof node.effect === 'string' && effectWords.get(node.effect) ? node.effect : own
  const properties: Record<string, Schema> = {
    onError: {
      title: behaviourText.onError,
      enum: ['stop', 'continue', 'branch'],
      'x-labels': [behaviourText.stopTheRun, behaviourText.continue, behaviourText.takeTheErrorOutput],
      default: 'stop',
      description: onErrorWords.get(chosen) ?? '',
    },
    retry: {
      title: commonText.retry,
      type: 'object',
      description: isObject(node.retry) ? retryWords(node.retry) : behaviourText.repeatsFailedAttemptsBeforeThe,
      properties: {
        maxAttempts: {
          title: behaviourText.attempts,
          type: 'integer',
          minimum: 1,
          maximum: 1000,
          default: 3,
          description: behaviourText.includingTheFirst,
        },
        delayMs: { title: behaviourText.firstDelay, type: 'number', 'x-kind': 'duration-ms', default: 1000 },
        backoff: {
          title: behaviourText.growth,
          type: 'number',
          minimum: 1,
          maximum: 100,
          default: 2,
          description: behaviourText.factorByWhichEachDelayGrows,
        },
      },
      required: ['maxAttempts'],
    },
    timeoutMs: {
      title: behaviourText.timeout,
      type: 'number',
      'x-kind': 'duration-ms',
      description: behaviourText.forOneAttemptWithoutATimeout,
    },
    effect: {
      title: behaviourText.effect,
      enum: ['pure', 'idempotent', 'once'],
      'x-labels': ['pure', 'idempotent', 'once'].map((name) =>
        name === own ? behaviourText.defaultOfThisType(effectLabels.get(name)) : effectLabels.get(name)!,
      ),
      description: [
        now ? behaviourText.text(effectLabels.get(now), effectWords.get(now)) : '',
        own && now !== own ? behaviourText.theDefaultOfThisTypeIs(own) : '',
      ]
        .filter(Boolean)
        .join(' '),
    },
    disabled: {
      title: behaviourText.disabled,
      type: 'boolean',
      default: false,
      description: behaviourText.skipsTheNodeAndPassesIts,
    },
  }
  // An attempt of a node that only waits takes no time, so a time limit has no effect.
  if (type && type.waits !== 'none' && node.timeoutMs === undefined) delete properties.timeoutMs
  return { type: 'object', properties }
}

/** The non-default behaviour of a node in a few words; empty for none. */
export function behaviourSummary(node: MapNode): string {
  const parts: string[] = []
  if (node.disabled === true) parts.push('disabled')
  if (node.onError === 'continue') parts.push(behaviourText.continuesOnError)
  if (node.onError === 'branch') parts.push(behaviourText.branchesOnError)
  if (isObject(node.retry) && typeof node.retry.maxAttempts === 'number' && node.retry.maxAttempts > 1)
    parts.push(behaviourText.attempts2(node.retry.maxAttempts))
  if (typeof node.timeoutMs === 'number') parts.push(behaviourText.timeout2(durationInWords(node.timeoutMs)))
  if (typeof node.effect === 'string') parts.push(behaviourText.effect2(node.effect))
  return parts.join(', ')
}

function retryWords(retry: Record<string, unknown>): string {
  const attempts = typeof retry.maxAttempts === 'number' ? retry.maxAttempts : 1
  const delay = typeof retry.delayMs === 'number' ? retry.delayMs : 1000
  const growth = typeof retry.backoff === 'number' ? retry.backoff : 2
  if (attempts <= 1) return behaviourText.oneAttemptNoRetries
  const limit = 300_000
  const delays = Array.from({ length: Math.min(attempts - 1, 4) }, (_, index) =>
    durationInWords(Math.min(limit, Math.round(delay * growth ** index))),
  )
  return behaviourText.waitsBetweenAttempts20(
    delays.join(', then '),
    attempts - 1 > 4 ? behaviourText.andSoOnAtMost5 : '',
  )
}
