import { count } from './count'

/** Texts of api/errors.ts. */
export const errorsText = {
  checkThatBlueprintdIsRunning:
    'Check that blueprintd is running and that this computer can reach it. Nothing is lost. The page continues when the server is back.',
  signInAgain: 'Sign in again.',
  askAManagerOfThisResource: 'Ask a manager of this resource for access.',
  itMayHaveBeenDeletedOr: 'It may have been deleted, or the address is mistyped.',
  itMayHaveChangedMeanwhile: 'It may have changed in the meantime. Reload to see the current state.',
  waitAMomentAndTryAgain: 'Wait a moment and try again.',
  theServerIsStartingStoppingOr: 'The server is starting, stopping or busy. Try again in a moment.',
  sendLessDataAtOnce: 'Send less data per request.',
  theRequestTookTooLongTry: 'The request took too long. Try again.',
  tryAgainIfItHappensAgain: 'Try again. If it happens again, see the server log.',
  tryAgainInSeconds: (retryAfter: number) => `Try again in ${count(retryAfter, 'second')}.`,
  theServerRefusedTheRequest: 'The server refused the request without a reason.',
  theServerCannotBeReached: 'The server cannot be reached.',
  theServerCannotBeReachedA: (status: number) =>
    `The server cannot be reached. A proxy answered with status ${status}.`,
  somethingWentWrongOnThisPage: 'Something went wrong on this page.',
  reloadThePage: 'Reload the page.',
} as const
