import type { Outputs } from '../../api/client'
import { showBytes, showCount, showDuration } from '../../parts/time-words'

/** What the server tells of itself. */
export type Info = Outputs['server']['getInfo']

/** One limit: what holds now, and how whoever runs the server changes it. */
export type Limit = {
  title: string
  value: string
  text: string
  flag: string
  example: string
  used?: { now: number; most: number }
}

/** All limits, by groups. */
export function limitsOf({ limits: of, ephemeral }: Info): { title: string; limits: Limit[] }[] {
  const free = (count: number, words: string) => (count > 0 ? words : 'No limit')
  return [
    {
      title: 'Calls',
      limits: [
        {
          title: 'Calls a second',
          value: free(of.rateLimit, `${of.rateLimit.toLocaleString('en')} for each API key and each user here`),
          text: 'On average. One more is refused with 429 and the time to wait.',
          flag: '--rate-limit',
          example: '100',
        },
        {
          title: 'Calls at once',
          value: free(of.rateLimit, of.rateBurst.toLocaleString('en')),
          text: 'How many may come at the same moment before the average counts.',
          flag: '--rate-burst',
          example: '400',
        },
        {
          title: 'Size of a request',
          value: free(of.maxBody, showBytes(of.maxBody)),
          text: 'Of any call and any webhook delivery. A larger one is refused with 413.',
          flag: '--max-body',
          example: '20MiB',
        },
        {
          title: 'Wait for an answer',
          value: showDuration(of.syncTimeoutMs),
          text: 'How long a call or a webhook that waits for its run holds on. The run goes on after that.',
          flag: '--sync-timeout',
          example: '60s',
        },
      ],
    },
    {
      title: 'Runs',
      limits: [
        {
          title: 'Runs at the same time',
          value: free(of.maxRunning, of.maxRunning.toLocaleString('en')),
          text: 'More wait for their turn, first come, first served.',
          flag: '--max-running',
          example: '2000',
        },
        {
          title: 'Runs that wait',
          value: free(of.maxQueued, of.maxQueued.toLocaleString('en')),
          text: 'One more is refused with 503, and whoever sent it should send it again.',
          flag: '--max-queued',
          example: '50000',
        },
      ],
    },
    {
      title: 'History',
      limits: [
        {
          title: 'Finished runs are kept',
          value: keepWords(of.keepExecutions, 'run'),
          text: 'Failed ones are kept three times as long, or go last.',
          flag: '--keep-executions',
          example: '30d',
        },
        {
          title: 'What triggers received is kept',
          value: keepWords(of.keepFirings, 'row'),
          text: 'The history of triggers. Deliveries with an id that started a run stay 72 hours at least.',
          flag: '--keep-firings',
          example: '30d',
        },
        {
          title: 'The audit log is kept',
          value: keepWords(of.keepAudit, 'line'),
          text: 'Who changed what.',
          flag: '--keep-audit',
          example: '800d',
        },
        {
          title: 'Size of the database',
          value: ephemeral ? 'In memory' : free(of.maxDisk, showBytes(of.maxDisk)),
          text: 'Beyond it the oldest finished runs go.',
          flag: '--max-disk',
          example: '10GiB',
        },
      ],
    },
  ]
}

/** `90d`, `36h0m0s`, `100000` or `all` in words. */
export function keepWords(keep: string, noun: string): string {
  if (keep === '' || keep === 'all' || keep === '0') return 'For ever'
  if (/^\d+$/.test(keep)) return `The newest ${showCount(Number(keep), noun)}`
  const days = /^(\d+(?:\.\d+)?)d$/.exec(keep)
  if (days) return showCount(Number(days[1]), 'day')
  const parts = /^(?:(\d+)h)?(?:(\d+)m)?(?:\d+(?:\.\d+)?s)?$/.exec(keep)
  if (!parts) return keep
  const [hours, minutes] = [Number(parts[1] ?? 0), Number(parts[2] ?? 0)]
  if (hours > 0 && hours % 24 === 0 && minutes === 0) return showCount(hours / 24, 'day')
  return (
    [hours > 0 && showCount(hours, 'hour'), minutes > 0 && showCount(minutes, 'minute')].filter(Boolean).join(' ') ||
    keep
  )
}

/** The environment variable of a flag. */
export function variableOf(flag: string): string {
  return `BLUEPRINTD_${flag.replace(/^--/, '').replaceAll('-', '_').toUpperCase()}`
}
