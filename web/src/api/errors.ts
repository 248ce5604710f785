import { errorsText } from '../text/api'

/** Describes errors of calls in a form that pages can show. No React here. */

/** One invalid field of an input. */
export type Issue = { path: (string | number)[]; message: string }

/** A parsed error, for display. */
export type Described = {
  /** What is wrong, in one or two sentences by the server. */
  message: string
  /** The tRPC code name (`NOT_FOUND`), `AWAY` without a response, or `UNKNOWN`. */
  code: string
  /** The HTTP status, if there was a response. */
  status?: number
  /** The invalid fields, possibly none. */
  issues: Issue[]
  /** What the user can do about it. */
  hint?: string
  /** Seconds after which the server accepts a retry. */
  retryAfter?: number
  /** Whether a retry without a change can succeed. */
  retryable: boolean
}

/** The code of an error without a response. */
export const AWAY = 'AWAY'

const hints = new Map(
  Object.entries<string>({
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
  }),
)

/** Parses any thrown value. Never throws. */
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
    // A request that is refused as a whole, without a path, is not about a resource.
    hint: wait ?? (code === 'FORBIDDEN' && field(data, 'path') === undefined ? undefined : hints.get(code)),
    retryAfter,
    retryable: ['TOO_MANY_REQUESTS', 'SERVICE_UNAVAILABLE', 'TIMEOUT', 'INTERNAL_SERVER_ERROR'].includes(code),
  }
}

/** Reports whether an error means that the user is signed out. */
export function isSignedOut(error: unknown): boolean {
  return describeError(error).code === 'UNAUTHORIZED'
}

/** Reports whether the caller aborted the call itself (a page left, a newer search). Such errors are not shown. */
export function isAborted(error: unknown): boolean {
  return field(error, 'name') === 'AbortError' || field(field(error, 'cause'), 'name') === 'AbortError'
}

/** `tags[1]` for the path of an issue; `` for the whole input. */
export function showPath(path: (string | number)[]): string {
  return path.map((part, index) => (typeof part === 'number' ? `[${part}]` : index === 0 ? part : `.${part}`)).join('')
}

/** The message of the issue of one field (its path as in showPath), for the error line of an input. */
export function issueFor(error: unknown, path: string): string | undefined {
  return describeError(error).issues.find((issue) => showPath(issue.path) === path)?.message
}

// An error without data from the server: the network failed, or a proxy responded with something other than JSON.
function away(error: unknown): Described {
  const status = number(field(field(field(error, 'meta'), 'response'), 'status'))
  const message =
    status === undefined ? errorsText.theServerCannotBeReached : errorsText.theServerCannotBeReachedA(status)
  return {
    message,
    code: AWAY,
    status,
    issues: [],
    hint: hints.get(AWAY),
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

// Capitalizes a message of the server, unless it starts with a name such as a field or a number.
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

// The client stores the response's headers in the error's meta.
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
