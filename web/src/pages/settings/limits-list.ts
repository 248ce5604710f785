import type { Outputs } from '../../api/client'
import { showBytes, showCount, showDuration } from '../../parts/time-words'
import { limitsListText } from '../../text/settings'
import { commonText } from '../../text/common'

/** The description of the server. */
export type Info = Outputs['server']['getInfo']

/** One limit: its value, and how the operator changes it. */
export type Limit = {
  title: string
  value: string
  text: string
  flag: string
  example: string
  used?: { now: number; most: number }
}

/** All limits, by group. */
export function limitsOf({ limits: of, ephemeral }: Info): { title: string; limits: Limit[] }[] {
  const free = (count: number, words: string) => (count > 0 ? words : commonText.noLimit)
  return [
    {
      title: limitsListText.requests,
      limits: [
        {
          title: limitsListText.requestsPerSecond,
          value: free(of.rateLimit, limitsListText.forEachApiKeyAndEach(of.rateLimit.toLocaleString('en'))),
          text: limitsListText.averageFurtherRequestsGet429,
          flag: '--rate-limit',
          example: '100',
        },
        {
          title: limitsListText.burstSize,
          value: free(of.rateLimit, of.rateBurst.toLocaleString('en')),
          text: limitsListText.requestsThatMayArriveAtOnce,
          flag: '--rate-burst',
          example: '400',
        },
        {
          title: limitsListText.requestSize,
          value: free(of.maxBody, showBytes(of.maxBody)),
          text: limitsListText.appliesToApiCallsAndWebhook,
          flag: '--max-body',
          example: '20MiB',
        },
        {
          title: limitsListText.responseTimeout,
          value: showDuration(of.syncTimeoutMs),
          text: limitsListText.timeThatACallOrWebhook,
          flag: '--sync-timeout',
          example: '60s',
        },
      ],
    },
    {
      title: commonText.runs,
      limits: [
        {
          title: limitsListText.concurrentRuns,
          value: free(of.maxRunning, of.maxRunning.toLocaleString('en')),
          text: limitsListText.furtherRunsAreQueuedInOrder,
          flag: '--max-running',
          example: '2000',
        },
        {
          title: limitsListText.queuedRuns,
          value: free(of.maxQueued, of.maxQueued.toLocaleString('en')),
          text: limitsListText.furtherRequestsGet503AndShould,
          flag: '--max-queued',
          example: '50000',
        },
      ],
    },
    {
      title: limitsListText.history,
      limits: [
        {
          title: limitsListText.retentionOfFinishedRuns,
          value: keepWords(of.keepExecutions, 'run'),
          text: limitsListText.failedRunsAreKeptThreeTimes,
          flag: '--keep-executions',
          example: '30d',
        },
        {
          title: limitsListText.retentionOfDeliveries,
          value: keepWords(of.keepFirings, 'row'),
          text: limitsListText.theLedgerOfTriggersDeliveries,
          flag: '--keep-firings',
          example: '30d',
        },
        {
          title: limitsListText.auditLogRetention,
          value: keepWords(of.keepAudit, 'line'),
          text: limitsListText.theRecordOfChanges,
          flag: '--keep-audit',
          example: '800d',
        },
        {
          title: limitsListText.databaseSize,
          value: ephemeral ? limitsListText.inMemory : free(of.maxDisk, showBytes(of.maxDisk)),
          text: limitsListText.beyondThisSizeTheOldest,
          flag: '--max-disk',
          example: '10GiB',
        },
      ],
    },
  ]
}

/** `90d`, `36h0m0s`, `100000` or `all` in words. */
export function keepWords(keep: string, noun: string): string {
  if (keep === '' || keep === 'all' || keep === '0') return limitsListText.forever
  if (/^\d+$/.test(keep)) return limitsListText.theNewest(showCount(Number(keep), noun))
  const days = /^(\d+(?:\.\d+)?)d$/.exec(keep)
  if (days) return limitsListText.days(Number(days[1]))
  const parts = /^(?:(\d+)h)?(?:(\d+)m)?(?:\d+(?:\.\d+)?s)?$/.exec(keep)
  if (!parts) return keep
  const [hours, minutes] = [Number(parts[1] ?? 0), Number(parts[2] ?? 0)]
  if (hours > 0 && hours % 24 === 0 && minutes === 0) return limitsListText.days(hours / 24)
  return (
    [hours > 0 && limitsListText.hours(hours), minutes > 0 && limitsListText.minutes(minutes)]
      .filter(Boolean)
      .join(' ') || keep
  )
}

/** The environment variable of a flag. */
export function variableOf(flag: string): string {
  return `BLUEPRINTD_${flag.replace(/^--/, '').replaceAll('-', '_').toUpperCase()}`
}
