import { wordsText } from '../../text/triggers'

/** The signatures of the presets, in words. */
export const presets = new Map(
  Object.entries<string>({
    github: wordsText.githubSignature,
    stripe: wordsText.stripeSignature,
    slack: wordsText.slackSignature,
    standard: wordsText.standardWebhooksSignature,
  }),
)

const events = new Map(
  Object.entries<string>({
    'execution.completed': wordsText.aRunCompleted,
    'execution.failed': wordsText.aRunFailed,
    'execution.paused': wordsText.aRunIsWaitingForInput,
    'blueprint.created': wordsText.aBlueprintWasCreated,
    'blueprint.updated': wordsText.aBlueprintWasUpdated,
    'blueprint.published': wordsText.aBlueprintWasPublished,
    'trigger.missed': wordsText.aScheduleMissedARun,
  }),
)

/** An event in words: `a run failed`; empty for those of blueprints. */
export function eventInWords(event: string): string {
  return events.get(event) ?? ''
}

/** Distinguishes addresses that differ only in an id: its last four letters. Empty without an address. */
export function addressEnd(address: string | null): string {
  return /[\da-f]{4}$/.exec(address ?? '')?.[0] ?? ''
}

/** Capitalizes a text. */
export function upper(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1)
}
