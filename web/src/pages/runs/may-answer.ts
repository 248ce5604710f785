import type { Awaiting } from './types'
import { mayAnswerText } from '../../text/runs'

/** The user who views the request. Undefined fields are not known yet. */
export type Asker = { userId: string; principal: string | undefined; canManage: boolean | undefined }

/** Returns why the user may not answer a request; `null` if they may, or if the server decides. */
export function whyNot(kind: Awaiting['kind'], { userId, principal, canManage }: Asker): string | null {
  switch (kind) {
    case 'human':
      if (canManage !== false || principal === undefined || principal === userId) return null
      return mayAnswerText.onlyTheUserWhoStartedThe
    case 'oauth':
      if (principal === undefined || principal === userId) return null
      return mayAnswerText.onlyTheUserForWhomThe
    default:
      if (canManage !== false) return null
      return mayAnswerText.onlyAManagerOfTheBlueprint
  }
}

/** The time until a question expires, in words; `null` if it does not. */
export function expiry(
  expiresAt: string | undefined,
  now: number,
  show: (milliseconds: number) => string,
): string | null {
  if (!expiresAt) return null
  const left = Date.parse(expiresAt) - now
  if (!Number.isFinite(left)) return null
  return left <= 0
    ? mayAnswerText.expired
    : mayAnswerText.expiresIn(show(left < 60_000 ? Math.ceil(left / 1000) * 1000 : left))
}
