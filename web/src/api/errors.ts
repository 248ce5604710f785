import { errorsText } from '../text/api'

/** What an error of a call says, in a form that pages can show. No React here. */

/** One offending field of an input. */
export type Issue = { path: (string | number)[]; message: string }

/** An error, taken apart for people. */
export type Described = {
  /** What is wrong, one or two sentences, as the server says it. */
  message: string
  /** The tRPC code name (`NOT_FOUND`), or `AWAY` when no answer came, or `UNKNOWN`. */
  code: string
  /** HTTP status, when there was an answer. */
  status?: number
  /** The offending fields, perhaps none. */
  issues: Issue[]
  /** What one can do about it. */
  hint?: string
  /** Seconds after which the server wants to be asked again. */
  retryAfter?: number
  /** Whether asking again without a change can help. */
  retryable: boolean
}

/** The code of an error where the server gave no answer. */
export const AWAY = 'AWAY'

const hints: Record<string, string> = {
  [AWAY]: errorsText.checkThatBlueprintdIsRunning,
  UNAUTHORIZED: errorsText.signInAgain,
  FORBIDDEN: errorsText.askAManagerOfThisResource,
  NOT_FOUND: errorsText.itMayHaveBeenDeletedOr,
  CONFLICT: errorsText.itMayHaveChangedMeanwhile,
  TOO_MANY_REQUESTS: errorsText.waitAMomentAndTryAgain,
  SERVICE_UNAVAILABLE: errorsText.theServerIsStartingStoppingOr,
  PAYLOAD_TOO_LARGE: errorsText.sendLessDataAtOnce,
  TIMEOUT: errorsText.theRequestTookTooLongTry,
  INTERNAL_SERVER_ERROR: errorsText.tryAgainIfItHappensAgain,
}

/** Takes any thrown value apart. Never throws. */
export function describeError(error: unknown): Described {
  const shape = field(error, 'shape')
  const data = field(error, 'data') ?? field(shape, 'data')
  const code = text(field(data, 'code'))
  if (code === undefined) return isCall(error) ? away(error) : unknown(error)
  const retryAfter = retryAfterOf(error)
  const wait = retryAfter !== undefined && retryAfter > 0 ? errorsText.tryAgainInSeconds(retryAfter) : undefined
  return {
    message: sentence(text(field(error, 'message')) || errorsText.theServerRefusedTheRequest),
    code,
    status: number(field(data, 'httpStatus')),
    issues: issuesOf(data),
    hint: wait ?? hints[code],
    retryAfter,
    retryable: ['TOO_MANY_REQUESTS', 'SERVICE_UNAVAILABLE', 'TIMEOUT', 'INTERNAL_SERVER_ERROR'].includes(code),
  }
}

/** Reports whether an error means that the user is signed out. */
export function isSignedOut(error: unknown): boolean {
  return describeError(error).code === 'UNAUTHORIZED'
}

/** Whether the caller gave up the call itself (a page left, a newer search). Such errors are not shown. */
export function isAborted(error: unknown): boolean {
  return field(error, 'name') === 'AbortError' || field(field(error, 'cause'), 'name') === 'AbortError'
}

/** `tags[1]` for the path of an issue; `` for the whole input. */
export function showPath(path: (string | number)[]): string {
  return path.map((part, index) => (typeof part === 'number' ? `[${part}]` : index === 0 ? part : `.${part}`)).join('')
}

/** The message of the issue of one field (its path written as showPath does), for the error line of an input. */
export function issueFor(error: unknown, path: string): string | undefined {
  return describeError(error).issues.find((issue) => showPath(issue.path) === path)?.message
}

// An error of the client without the server's own data: the network failed, or something between us and the server
// (a proxy) answered with what is not JSON.
function away(error: unknown): Described {
  const status = number(field(field(field(error, 'meta'), 'response'), 'status'))
  const message =
    status === undefined ? errorsText.theServerCannotBeReached : errorsText.theServerCannotBeReachedA(status)
  return {
    message,
    code: AWAY,
    status,
    issues: [],
    hint: hints[AWAY],
    retryAfter: retryAfterOf(error),
    retryable: true,
  }
}

function unknown(error: unknown): Described {
  const message = text(field(error, 'message')) ?? text(error)
  return {
    message: message || errorsText.somethingWentWrongOnThisPage,
    code: 'UNKNOWN',
    issues: [],
    hint: errorsText.reloadThePage,
    retryable: false,
  }
}

function isCall(error: unknown): boolean {
  return (
    field(error, 'name') === 'TRPCClientError' ||
    (error instanceof TypeError && /fetch|network|load failed/i.test(error.message))
  )
}

// The server writes its messages in small letters, for logs and lists; a word that is a name (a field, a number) stays.
function sentence(message: string): string {
  return /^[a-z]+[ ,;]/.test(message) ? message[0]!.toUpperCase() + message.slice(1) : message
}

function issuesOf(data: unknown): Issue[] {
  const issues = field(data, 'issues')
  if (!Array.isArray(issues)) return []
  return issues.flatMap((issue: unknown) => {
    const path = field(issue, 'path')
    const message = text(field(issue, 'message'))
    return Array.isArray(path) && message !== undefined ? [{ path: path as (string | number)[], message }] : []
  })
}

// The client keeps the answer's headers in the error's meta.
function retryAfterOf(error: unknown): number | undefined {
  const headers = field(field(field(error, 'meta'), 'response'), 'headers') as
    { get?: (name: string) => string | null } | undefined
  const seconds = Number.parseInt(headers?.get?.('retry-after') ?? '', 10)
  return Number.isFinite(seconds) && seconds >= 0 ? seconds : undefined
}

function field(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>)[name] : undefined
}

function text(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined
}

function number(value: unknown): number | undefined {
  return typeof value === 'number' ? value : undefined
}
