import { inWords as durationInWords } from '../forms/duration'
import type { Schema } from '../forms/types'
import { type MapNode, isObject } from '../graph/map'
import type { NodeTypeInfo } from './types'

/** The members of a node that say how it runs. */
export const behaviourKeys = ['onError', 'retry', 'timeoutMs', 'effect', 'disabled'] as const

const onErrorWords: Record<string, string> = {
  stop: 'The run fails; nothing new starts.',
  continue: 'The run goes on; the output of this node is {"error": {"message", "code"}}.',
  branch:
    'Only the edges that leave by the way "error" are taken; the output is {"error": {"message", "code"}}. Connect that way to what shall happen.',
}

const effectWords: Record<string, string> = {
  pure: 'changes nothing outside; after a crash it simply runs again',
  idempotent:
    'may be sent twice without harm, for it carries an idempotency key; after a crash it runs again with the same key',
  once: 'must not happen twice; when a crash leaves it unclear whether it did, the run pauses and asks',
}

const effectLabels: Record<string, string> = { pure: 'Pure', idempotent: 'Idempotent', once: 'Once' }

/** The schema of the members that say how a node runs, in words that fit the node. */
export function behaviourSchema(node: MapNode, type: Pick<NodeTypeInfo, 'effect' | 'waits'> | undefined): Schema {
  const effect = type?.effect
  const chosen = typeof node.onError === 'string' ? node.onError : 'stop'
  const own = effect && effectLabels[effect] ? effect : undefined
  const now = typeof node.effect === 'string' && effectWords[node.effect] ? node.effect : own
  const properties: Record<string, Schema> = {
    onError: {
      title: 'When it fails',
      enum: ['stop', 'continue', 'branch'],
      'x-labels': ['Stop the run', 'Go on', 'Take the way "error"'],
      default: 'stop',
      description: onErrorWords[chosen] ?? '',
    },
    retry: {
      title: 'Try again',
      type: 'object',
      description: isObject(node.retry)
        ? retryWords(node.retry)
        : 'How often a failed attempt is repeated before it counts as a failure.',
      properties: {
        maxAttempts: {
          title: 'Attempts in all',
          type: 'integer',
          minimum: 1,
          maximum: 1000,
          default: 3,
          description: 'The first one included.',
        },
        delayMs: { title: 'First delay', type: 'number', 'x-kind': 'duration-ms', default: 1000 },
        backoff: {
          title: 'Growth',
          type: 'number',
          minimum: 1,
          maximum: 100,
          default: 2,
          description: 'By how much each delay is longer than the one before.',
        },
      },
      required: ['maxAttempts'],
    },
    timeoutMs: {
      title: 'Time limit',
      type: 'number',
      'x-kind': 'duration-ms',
      description: 'Of one attempt. Without one the limits of the type hold.',
    },
    effect: {
      title: 'Effect',
      enum: ['pure', 'idempotent', 'once'],
      'x-labels': ['pure', 'idempotent', 'once'].map((name) =>
        name === own ? `${effectLabels[name]} (default of this type)` : effectLabels[name]!,
      ),
      description: [
        now ? `${effectLabels[now]}: it ${effectWords[now]}.` : '',
        own && now !== own
          ? `This type is ${own} by default: choose another only if you know what the other side does with a repeated request.`
          : '',
      ]
        .filter(Boolean)
        .join(' '),
    },
    disabled: {
      title: 'Disabled',
      type: 'boolean',
      default: false,
      description: 'A disabled node is skipped and passes its input on.',
    },
  }
  // An attempt of a node that only waits takes no time, so a limit of it means nothing.
  if (type && type.waits !== 'none' && node.timeoutMs === undefined) delete properties.timeoutMs
  return { type: 'object', properties }
}

/** What a node does otherwise than usual, in a few words; empty when nothing. */
export function behaviourSummary(node: MapNode): string {
  const parts: string[] = []
  if (node.disabled === true) parts.push('disabled')
  if (node.onError === 'continue') parts.push('goes on after errors')
  if (node.onError === 'branch') parts.push('errors take their own way')
  if (isObject(node.retry) && typeof node.retry.maxAttempts === 'number' && node.retry.maxAttempts > 1)
    parts.push(`${node.retry.maxAttempts} attempts`)
  if (typeof node.timeoutMs === 'number') parts.push(`limit ${durationInWords(node.timeoutMs)}`)
  if (typeof node.effect === 'string') parts.push(`effect ${node.effect}`)
  return parts.join(', ')
}

function retryWords(retry: Record<string, unknown>): string {
  const attempts = typeof retry.maxAttempts === 'number' ? retry.maxAttempts : 1
  const delay = typeof retry.delayMs === 'number' ? retry.delayMs : 1000
  const growth = typeof retry.backoff === 'number' ? retry.backoff : 2
  if (attempts <= 1) return 'One attempt: nothing is repeated.'
  const limit = 300_000
  const delays = Array.from({ length: Math.min(attempts - 1, 4) }, (_, index) =>
    durationInWords(Math.min(limit, Math.round(delay * growth ** index))),
  )
  return `Waits ${delays.join(', then ')}${attempts - 1 > 4 ? ' and so on, at most 5 minutes each' : ''} between the attempts, give or take a fifth.`
}
