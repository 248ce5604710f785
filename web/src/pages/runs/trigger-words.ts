const words: Record<string, string> = {
  manual: 'Manual trigger',
  scheduled: 'Schedule',
  webhook: 'Webhook',
  email: 'Mail',
  slack: 'Slack',
  event: 'Event',
  api: 'API trigger',
}

/** What started a run, in a word or two. */
export function triggerWord(type: string | null): string {
  return type === null ? 'Started directly' : (words[type] ?? type.charAt(0).toUpperCase() + type.slice(1))
}

const kinds: Record<string, string> = {
  human: 'asks for an answer',
  approval: 'asks for approval',
  oauth: 'needs a sign-in',
  'unknown-outcome': 'needs a decision',
  budget: 'needs more budget',
}

/** What a paused run waits for, in a few words. */
export function awaitWord(kind: string | null): string {
  return kind === null ? 'waits for an answer' : (kinds[kind] ?? `waits: ${kind}`)
}
