import { triggerWordsText } from '../../text/runs'
import { commonText } from '../../text/common'

const words = new Map(
  Object.entries<string>({
    manual: triggerWordsText.manualTrigger,
    scheduled: triggerWordsText.schedule,
    webhook: commonText.webhook,
    email: triggerWordsText.mail,
    slack: triggerWordsText.slack,
    event: triggerWordsText.event,
    api: triggerWordsText.apiTrigger,
  }),
)

/** The origin of a run, in a word or two. */
export function triggerWord(type: string | null): string {
  return type === null
    ? triggerWordsText.startedDirectly
    : (words.get(type) ?? type.charAt(0).toUpperCase() + type.slice(1))
}

const kinds = new Map(
  Object.entries<string>({
    human: triggerWordsText.waitingForInput,
    approval: triggerWordsText.waitingForApproval,
    oauth: triggerWordsText.waitingForASignIn,
    'unknown-outcome': triggerWordsText.waitingForADecision,
    budget: triggerWordsText.waitingForMoreBudget,
  }),
)

/** What a paused run waits for, in a few words. */
export function awaitWord(kind: string | null): string {
  return kind === null ? triggerWordsText.waitingForInput : (kinds.get(kind) ?? triggerWordsText.waiting(kind))
}
