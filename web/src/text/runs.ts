import { count } from './count'

/** Texts of pages/runs/answer-approval.tsx. */
export const answerApprovalText = {
  comment: 'Comment',
  optionalAvailableToLaterNodes: 'Optional. Available to later nodes.',
  approve: 'Approve',
  reject: 'Reject',
} as const

/** Texts of pages/runs/approval-link.tsx. */
export const approvalLinkText = {
  copyApprovalLink: 'Copy approval link',
  copied: 'Approval link copied',
  link: 'Approval link',
  worksOnce: 'Everyone who has the link can answer this request without an account. It works once.',
  expires: 'It expires',
  couldNotCreateTheLink: 'Could not create the link',
} as const

/** Texts of pages/runs/answer-budget.tsx. */
export const answerBudgetText = {
  mustBeAWholeNumberGreater: 'Must be a whole number greater than 0.',
  appliesToThisRunOnlyThe: 'Applies to this run only. The budget of the blueprint does not change.',
  tokensToAdd: 'Tokens to add',
  enterTokensCallsOrBoth: 'Enter tokens, calls or both.',
  callsToAdd: 'Calls to add',
  addAndContinue: 'Add and continue',
} as const

/** Texts of pages/runs/answer-human.tsx. */
export const answerHumanText = {
  submit: 'Submit',
  answerAsJson: 'Answer as JSON',
  answer: 'Answer',
  enterText: 'Enter text',
  enterJson: 'Enter JSON',
} as const

/** Texts of pages/runs/answer-outcome.tsx. */
export const answerOutcomeText = {
  repeatTheStep: 'Repeat the step',
  ifItDidNotHappenOtherwise: 'Choose this if it did not happen. Otherwise it happens twice.',
  markAsDone: 'Mark as done',
  ifItHappenedTheRunContinues: 'Choose this if it happened. The run continues with the output you enter.',
  endTheRun: 'End the run',
  theRunFailsYouCanRetry: 'The run fails. You can retry it later.',
  thisStepMustNotHappenTwice: 'This step must not happen twice. Check the other service first.',
  stepOutput: 'Step output',
  availableToLaterStepsAsJson: 'Available to later steps, as JSON. Leave empty for none.',
  continue: 'Continue',
} as const

/** Texts of pages/runs/answer-sign-in.tsx. */
export const answerSignInText = {
  theRunContinuesAfterYouSign: 'The run continues after you sign in. If it does not, check again.',
  thereIsNoSignInAddress: 'There is no sign-in address. Sign in on the connection page, then continue here.',
  opensInANewTab: '(opens in a new tab)',
  signIn: 'Sign in',
  checkSignIn: 'Check sign-in',
} as const

/** Texts of pages/runs/answers.tsx. */
export const answersText = {
  alreadyAnswered: 'Already answered',
  wasAnsweredExpiredOrCancelled: (taken: string) =>
    `“${taken}” was answered, cancelled or expired in the meantime. The page shows the current state.`,
  waitingForInput: 'Waiting for input',
  waitingForApproval: 'Waiting for approval',
  waitingForASignIn: 'Waiting for a sign-in',
  waitingForADecision: 'Waiting for a decision',
  waitingForMoreBudget: 'Waiting for more budget',
  requested: 'requested',
  youCannotAnswerThisRequest: 'You cannot answer this request',
  couldNotSubmitTheAnswer: 'Could not submit the answer',
} as const

/** Texts of pages/runs/blueprint-filter.tsx. */
export const blueprintFilterText = {
  aBlueprintThatYouCannotSee: 'A blueprint you cannot see',
  oneBlueprint: 'One blueprint',
  anyBlueprint: 'Any blueprint',
  noSuchBlueprint: 'Unknown blueprint',
} as const

/** Texts of pages/runs/failed-exchange.tsx. */
export const failedExchangeText = {
  failedExchange: 'Failed exchange',
  mail: 'Mail',
  from: 'From',
  to: 'To',
  subject: 'Subject',
  reply: 'Reply',
  request: 'Request',
  requestBodyFor: (address: string) => `Request body for ${address}`,
  status: (status: number | undefined) => `Status ${status}`,
  responseBodyFrom: (address: string) => `Response body from ${address}`,
  credentialsAreMaskedAtMost16: 'Credentials are masked. At most 16 KiB of a body are kept.',
} as const

/** Texts of pages/runs/failure-hints.ts. */
export const failureHintsText = {
  fixTheConfigurationOfThisStep: 'Fix the configuration of this step in the editor, then run again.',
  aTemplateOrExpressionUsesAn:
    'A template or expression uses an unknown name. Fix it in the editor. The step input below shows the available values.',
  makeTheConditionReturnTrueOr: 'Make the condition return true or false, for example with a comparison.',
  giveTheLoopAListFor: 'Set the items to a list, for example {{input.items}}.',
  theStepExceededItsTimeLimit: 'The step exceeded its time limit. Raise timeoutMs, or check why the service is slow.',
  theServiceRefusedTheRequest:
    'The service refused the request. Check the request, or allow the status in expectStatus.',
  theServiceCouldNotBeReached: 'The service could not be reached. Check the address and retry.',
  theServerDoesNotConnectTo:
    'The server does not connect to this address or port. Allow a private address with --allow-net.',
  theConnectionDoesNotAllowThis:
    'The connection does not allow this host. Add the host to the connection, or fix the address.',
  theCertificateOfTheServiceWas: 'The certificate of the service was not accepted.',
  theAddressRedirectsTooOftenFix: 'The address redirects too often. Fix the address.',
  aValueExceededItsSizeLimit:
    'A value exceeded its size limit. Pass on less data, for example with a transform step before this one.',
  theConnectionWasDeletedOrYou: 'The connection was deleted, or you cannot use it. Choose another one in the editor.',
  anotherUserWroteThisVersion: 'Another user wrote this version. Grant it to allow access to your resources.',
  theUserOfThisRunCannot: 'The user of this run cannot use this secret. Run it as a user who manages the blueprint.',
  theSignInOfTheConnection:
    'The sign-in of the connection expired or was refused. Sign in again on the connection page.',
  theMailServerRefusedTheLogin: 'The mail server refused the login. Check the connection.',
  theRequestWasRejectedTheStep: 'The request was rejected. The step worked as intended.',
  theMailServerRefusedSome: 'The mail server refused some recipients. Check their addresses.',
  theOutcomeIsUnknownCheckThe: 'The outcome is unknown. Check the other service before you retry.',
  nobodyAnsweredInTimeRetryFrom: 'No answer arrived in time. Retry from this step to ask again.',
  theRunUsedUpItsBudget:
    'The run used up its budget of tokens or calls. Raise the budget of the blueprint, then retry from this step.',
  theResponseDidNotMatchThe:
    'The response did not match the schema, even after a second request. Loosen the schema or change the prompt.',
  theModelNeededMoreTurnsThan: 'The model needed more turns than allowed. Raise maxSteps or simplify the task.',
  theToolServerReturnedAnError: 'The tool server returned an error. Test the connection.',
  theToolReportedAFailureSee: 'The tool reported a failure. See its message.',
  theToolServerDoesNotOffer: 'The tool server does not offer this tool. Test the connection to list its tools.',
  slackRefusedTheRequestSeeThe: 'Slack refused the request. See the message for the reason.',
  theBlueprintOfThisStepWas: 'The blueprint of this step was deleted, or you cannot run it.',
  theRunStartedByThisStep: 'The run started by this step failed. Open that run.',
  blueprintsStartEachOtherMore: 'Blueprints start each other more than 16 levels deep. Look for a cycle.',
  tooManyRunsAreActiveRetry: 'Too many runs are active. Retry later.',
  theFileIsNoLongerStored: 'The file is no longer stored.',
  theRunWasCancelled: 'The run was cancelled.',
  theRunWasEndedBecauseThe: 'The run was ended because the outcome of the step was unknown.',
  aStopStepEndedTheRun: 'A stop step ended the run as failed. The blueprint is designed this way.',
  thisIsABugInThe: 'This is a bug in the server. See the server log.',
  fixTheCauseThenRetryFrom: 'Fix the cause, then retry from this step.',
} as const

/** Texts of pages/runs/may-answer.ts. */
export const mayAnswerText = {
  onlyTheUserWhoStartedThe: 'Only the user who started the run, or a manager of its blueprint, can answer.',
  onlyTheUserForWhomThe: 'Only the user for whom the run acts can sign in.',
  onlyAManagerOfTheBlueprint:
    'Only a manager of the blueprint can answer. Ask one to answer or to add you as a collaborator.',
  expired: 'expired',
  expiresIn: (show: string) => `expires in ${show}`,
} as const

/** Texts of pages/runs/reached.tsx. */
export const reachedText = {
  externalServices: 'External services',
  theRecordOfThisRunDoes: 'The record of this run does not exist, or you cannot see it.',
  oauth2: 'OAuth 2',
  apiKey: 'API key',
  bearerToken: 'Bearer token',
  basicUserNameAndPassword: 'Basic (user name and password)',
  noModelsToolServersOrOther: 'No models, tool servers or other hosts',
  languageModels: 'Language models',
  providers: 'Providers',
  toolServers: 'Tool servers',
  hosts: 'Hosts',
  host: 'Host',
  calls: 'Calls',
  statuses: 'Statuses',
  noResponse: 'no response',
  signedInWith: 'Signed in with',
  requestedByTheRun: ', requested by the run',
  signInOfAUser: (word: string) => `sign-in of a user${word}`,
  connections: (n: number) => count(n, 'connection'),
} as const

/** Texts of pages/runs/retry-dialog.tsx. */
export const retryDialogText = {
  retryThisRun: 'Retry this run',
} as const

/** Texts of pages/runs/retry-form.tsx. */
export const retryFormText = {
  newRunStarted: 'New run started',
  incompleteSteps: 'Incomplete steps',
  startsANewRunOfThe:
    'Starts a new run of the same version. Steps before the selected one keep their results. It and all later steps run again and repeat their mails, messages and requests.',
  startAt: 'Start at',
  noStepsFound: 'No steps found',
  inputOfThisStep: 'Input of this step',
  editItToFork:
    'Edit it to fork the run. Values shown as *** stay unchanged. If the step takes the input of the run, all steps of the fork run again. Templates that read nodes.ID.output of an earlier step keep the earlier value.',
  couldNotStartARun: 'Could not start a run',
  fork: 'Fork',
} as const

/** Texts of pages/runs/row-words.ts. */
export const rowWordsText = {
  keptFromTheEarlierRun: (word: string) => `${word}, kept from the earlier run`,
  activeFor: (status: string, duration: string) => `${status} for ${duration}`,
  endedAfter: (status: string, duration: string) => `${status} after ${duration}`,
  startedAt: (duration: string) => `started at ${duration}`,
  attempts: (attempt: number) => `${count(attempt, 'attempt')}`,
  items: (counts: string) => `items: ${counts}`,
  prompt: (prompt: string) => `prompt: ${prompt}`,
} as const

/** Texts of pages/runs/run-action-forms.tsx. */
export const runActionFormsText = {
  runCancelled: 'Run cancelled',
  theRunFailsActiveStepsAre: 'The run fails. Active steps are stopped. Their effects so far remain.',
  reason: 'Reason',
  optionalStoredWithTheRun: 'Optional. Stored with the run.',
  couldNotCancelTheRun: 'Could not cancel the run',
  keepRunning: 'Keep running',
  cancelRun: 'Cancel run',
} as const

/** Texts of pages/runs/run-actions.tsx. */
export const runActionsText = {
  cancelRun: 'Cancel run',
  cancelThisRun: 'Cancel this run?',
} as const

/** Texts of pages/runs/run-bars.ts. */
export const runBarsText = {
  n6Hours: '6 hours',
} as const

/** Texts of pages/runs/run-chart.tsx. */
export const runChartText = {
  n24Hours: '24 hours',
  n7Days: '7 days',
  n30Days: '30 days',
  couldNotLoadTheRunChart: 'Could not load the run chart',
  completed: 'Completed',
  failed: 'Failed',
  failureRate: 'Failure rate',
  meanDuration: 'Mean duration',
  slowest: 'Slowest',
  runningNow: 'Running now',
  waitingNow: 'Waiting now',
  runsOfTheLast: (value: string) => `Runs of the last ${value}`,
  timeRange: 'Time range',
  showChart: 'Show chart',
  showTable: 'Show table',
  oneBarPer: (unitOf: string) => `One bar per ${unitOf}`,
  oneBarPerSelectABar: (unitOf: string) => `One bar per ${unitOf}. Select a bar to list its runs.`,
  runsCompletedFailed: (completed: number, value: string) => `${count(completed, 'run')} completed, ${value} failed`,
  meanSlowest: (duration: string, word: string) => `Mean ${duration}, slowest ${word}`,
  runsOverTimeAsATable: 'Runs over time, as a table',
  newestFirst: 'Newest first',
  time: 'Time',
  mean: 'Mean',
  completedFailed: (when: string, completed: number, failed: number) =>
    `${when}: ${completed} completed, ${failed} failed`,
} as const

/** Texts of pages/runs/compare-page.tsx. */
export const comparePageText = {
  compareRuns: 'Compare runs',
  compareRunsOf: (title: string) => `Compare runs of ${title}`,
  runNotFound: 'Run not found',
  itMayBeDeletedOrYouCannot: 'The run may be deleted, or you cannot see it.',
  allRuns: 'All runs',
  couldNotLoadTheRun: 'Could not load the run',
  compareWith: 'Compare with',
  chooseARun: 'Choose a run',
  noRunsFound: 'No runs found',
  noEarlierCompletedRun: 'No earlier completed run',
  couldNotFindACompletedRun: 'Could not look for an earlier completed run',
  chooseAnotherRunOf:
    'Retries, forks and runs of single nodes are left out. Choose another run of this blueprint above.',
  run: (id: string) => `Run …${id}`,
  version: (version: string) => `version ${version}`,
  otherRun: 'Other run',
  thisRun: 'This run',
  theRunsAreOfDifferentBlueprints: 'The runs are of different blueprints.',
  bothRanVersion: (version: string) => `Both ran version ${version}.`,
  versionChanged: (from: string, to: string) => `The version differs: ${from} → ${to}.`,
  compareTheVersions: 'Compare the versions',
  result: 'Result',
  noDifference: 'No difference',
  showEqualSteps: (n: number) => `Show ${count(n, 'equal step')}`,
  allStepsAreEqual: 'All steps are equal',
  showMoreLeft: (value: string) => `Show more (${value} left)`,
  noSuchStep: 'no such step',
  to: 'to',
} as const

/** Texts of pages/runs/run-data.tsx. */
export const runDataText = {
  result: 'Result',
  inputOfTheRun: 'Input of the run',
  variablesOfTheRun: 'Variables of the run',
  resultOfTheRun: 'Result of the run',
  noInput: 'No input',
  unavailable: 'Not available',
  availableWhenTheRunHasEnded: 'Available when the run has ended',
  theRunFailed: 'The run failed',
  completedWithErrors: 'Completed with errors',
  compareWithTheLastCompletedRun: 'Compare with the last completed run',
} as const

/** Texts of pages/runs/run-dialog.tsx. */
export const runDialogText = {
  startRun: 'Start run',
  couldNotLoadTheBlueprint: 'Could not load the blueprint',
  runsTheSavedVersionOf: (version: string, title: string) => `Runs the saved version ${version} of “${title}”.`,
  useVariablesOfTheLastRun: 'Use variables of the last run',
  inputOfTheFirstStepAs: 'Input of the first step, as JSON. Leave empty for none.',
  useAnEarlierInput: 'Use an earlier input',
  recordTraffic: 'Record traffic',
  storesRequestsResponsesAnd:
    'Stores requests, responses and mails for inspection and tests. Credentials are left out.',
  couldNotStartTheRun: 'Could not start the run',
  start: 'Start',
  example: '{ "name": "Ada" }',
} as const

/** Texts of pages/runs/run-facts-list.tsx. */
export const runFactsListText = {
  version: (blueprintVersion: string) => `version ${blueprintVersion}`,
  startedBy: 'Started by',
  runningFor: 'Running for',
  skipped: (skipped: number) => `, ${skipped} skipped`,
  failed: (failedSteps: number) => `, ${failedSteps} failed`,
  ofCompleted: (completedSteps: number, totalSteps: number, word: string, word2: string) =>
    `${completedSteps} of ${totalSteps} completed${word}${word2}`,
  retryOf: 'Retry of',
  forkOf: 'Fork of',
  at: (step: string) => `at ${step}`,
  compare: 'Compare',
  retriesAndForks: 'Retries and forks',
  parentRun: 'Parent run',
  childRuns: 'Child runs',
  showOlder: 'Show older',
  andMore: (value: number) => `and ${value} more`,
  updates: 'Updates',
  everyFewSeconds: 'every few seconds',
  runId: 'Run ID',
  unknown: 'unknown',
  anotherRun: 'another run',
  as: (userName: string) => `, as ${userName}`,
  run: (id: string) => `Run …${id}`,
  copyRunId: 'Copy run ID',
} as const

/** Texts of pages/runs/run-filters.ts. */
export const runFiltersText = {
  anyStatus: 'Any status',
  running: 'Running',
  waitingForInput: 'Waiting for input',
  completed: 'Completed',
  failed: 'Failed',
} as const

/** Texts of pages/runs/run-log.tsx. */
export const runLogText = {
  log: 'Log',
  minimumLogLevel: 'Minimum log level',
  info: 'Info',
  warnings: 'Warnings',
  errors: 'Errors',
  logLinesOfTheRun: 'Log lines of the run',
  noLogLines: 'No log lines',
  showEarlierLinesLines: (cut: number) => `Show earlier lines (${count(cut, 'line')})`,
  dataOfTheLogLine: 'Data of the log line',
} as const

/** Texts of pages/runs/run-menu.tsx. */
export const runMenuText = {
  exportedViewItWithBlueprintd: (name: string) => `${name} exported. View it with blueprintd open ${name}`,
  testAndExportContainTheWhole: 'Test and export contain the whole blueprint. Only its managers can save them.',
  moreActions: 'More actions',
  saveAsTest: 'Save as test',
  availableWhenTheRunHasEnded: 'Available when the run has ended',
  forBlueprintdTest: 'For blueprintd test',
  compareWithAnotherRun: 'Compare with another run',
  exportRun: 'Export run',
  viewItWithBlueprintdOpenFile: 'View it with blueprintd open FILE',
} as const

/** Texts of pages/runs/run-page.tsx. */
export const runPageText = {
  runNotFound: 'Run not found',
  theAddressMayBeMistypedThe: 'The address may be mistyped, the run may be deleted, or you cannot see it.',
  allRuns: 'All runs',
  couldNotLoadTheRun: 'Could not load the run',
  run: (title: string) => `${title}, run`,
  couldNotLoadUpdatesOfThis: 'Could not load updates for this run',
  progress: 'Progress',
  theRunIsActive: 'The run is active.',
  theRunIsWaitingForInput: 'The run is waiting for input.',
  theRunCompleted: 'The run completed.',
  theRunFailed2: 'The run failed.',
} as const

/** Texts of pages/runs/run-table.tsx. */
export const runTableText = {
  startedBy: 'Started by',
  runsNewestFirst: 'Runs, newest first',
  run: (short: string) => `Run ${short}`,
  unknownRun: 'Unknown run',
  version: (version: string) => `v${version}`,
} as const

/** Texts of pages/runs/runs-page.tsx. */
export const runsPageText = {
  goToBlueprints: 'Go to blueprints',
} as const

/** Texts of pages/runs/runs-view.tsx. */
export const runsViewText = {
  filterTheRuns: 'Filter runs',
  searchByRunId: 'Search by run ID',
  timeRemoveThisFilter: (when: string) => `Time: ${when}. Remove this filter`,
  time: 'Time',
  newRun: 'new run',
  couldNotLoadTheRuns: 'Could not load the runs',
  noRunsFound: 'No runs found',
  noRunMatchesTheseFilters: 'No run matches these filters.',
  clearFilters: 'Clear filters',
  noRunsYet: 'No runs yet',
  aRunIsOneExecutionOf: 'A run is one execution of a blueprint. It shows the input, output and duration of each step.',
  searchedBackTo: 'Searched back to',
  olderRunsMayMatchToo: '. Older runs may match too.',
  couldNotLoadOlderRuns: 'Could not load older runs',
  searchOlderRuns: 'Search older runs',
  loadOlderRuns: 'Load older runs',
} as const

/** Texts of pages/runs/save-test.tsx. */
export const saveTestText = {
  couldNotCreateTheTest: 'Could not create the test',
  itReplaysTheRecordedTrafficAnd: 'It replays the recorded traffic and sends nothing.',
  theRunWasNotRecordedSo: 'The run was not recorded, so stubs replace the steps that call other services.',
  thisTestExpectsTheResultsOf: (word: string) =>
    `This test expects the results of this run. ${word} Put the files into one folder and run`,
  blueprintdTestFolder: 'blueprintd test FOLDER',
  downloadAll: 'Download all',
  theBlueprint: 'The blueprint',
  inputAndExpectedResults: 'Input and expected results',
  theRecordedTraffic: 'The recorded traffic',
  download: (name: string) => `Download ${name}`,
  contentOf: (name: string) => `Content of ${name}`,
  showAll: (bytes: string) => `Show all ${bytes}`,
} as const

/** Texts of pages/runs/status-look.ts. */
export const statusLookText = {
  waitingForInput: 'waiting for input',
  notStarted: 'not started',
  completed: 'completed',
  failed: 'failed',
  running: 'running',
  skipped: 'skipped',
} as const

/** Texts of pages/runs/step-panel.tsx. */
export const stepPanelText = {
  selectedStep: 'Selected step',
  itemOfALoop: 'Item of a loop',
  unknownStep: 'Unknown step',
  copyALinkToThisStep: 'Copy a link to this step',
  runAgainFromHere: 'Run again from here',
  editedInput: 'Input, edited for this run',
  openNodeInEditor: 'Open node in editor',
  closeStep: 'Close step',
  thisRunHasNoStepWith: 'This run has no such step.',
  attempts: 'Attempts',
  result: 'Result',
  keptFromTheRetriedRun: 'Kept from the retried run',
  failed: 'Failed',
  inputOf: (nodeId: string) => `Input of ${nodeId}`,
  outputOf: (nodeId: string) => `Output of ${nodeId}`,
  theRunEndedBeforeThisStep: 'The run ended before this step.',
  notStartedYet: 'Not started yet.',
  noBranchLedToThisStep: 'No branch led to this step, or the step is disabled.',
  stepLog: 'Step log',
  logLinesOf: (nodeId: string) => `Log lines of ${nodeId}`,
  exchangesWithOtherServices: (n: number) => `${count(n, 'exchange')} with other services`,
} as const

/** Texts of pages/runs/step-rows.ts. */
export const stepRowsText = {
  item: (index: number) => `Item ${index}`,
  stepOfItem: (item: string, step: string) => `${item} · ${step}`,
} as const

/** Texts of pages/runs/steps.tsx. */
export const stepsText = {
  blueprintWithStepStatuses: 'Blueprint with step statuses',
  failedAndActiveOnly: 'Failed and active only',
  timelineZoom: 'Timeline zoom',
  zoomIn: 'Zoom in',
  zoomOut: 'Zoom out',
  zoomToTheSelectedStep: 'Zoom to the selected step',
  showTheWholeRun: 'Show the whole run',
  selectedStep: 'Selected step',
  backToSteps: 'Back to steps',
} as const

/** Texts of pages/runs/timeline.tsx. */
export const timelineText = {
  stepsOverTime: 'Steps over time',
  step: (title: string, index: number | undefined, state: string) =>
    `${title}${index === undefined ? '' : ` [${index}]`}: ${state}`,
  steps: 'steps',
  item: 'item',
  items: 'items',
  keptFromTheEarlierRun: 'kept from the earlier run',
} as const

/** Texts of pages/runs/traffic-list.tsx. */
export const trafficListText = {
  couldNotLoadTheTraffic: 'Could not load the traffic',
  thisRecordedRunContactedNo: 'This recorded run contacted no other service.',
  thisRunIsBeingRecordedIt: 'This run is being recorded. It has contacted no other service yet.',
  of: (step: string) => ` of ${step}`,
  exchangesCredentialsAreLeftOut: (length: number, word: string) =>
    `${count(length, 'exchange')}${word}. Credentials are left out.`,
  showAllSteps: 'Show all steps',
  exchangesShown: 'Exchanges shown',
  failed: (value: string) => `Failed (${value})`,
  noFailedExchanges: 'No failed exchanges',
  thisStepContactedNoOther: 'This step contacted no other service.',
  exchangesOldestFirst: 'Exchanges, oldest first',
  showMoreLeft: (value: string) => `Show more (${value} left)`,
  thisRunWasNotRecordedTurn:
    'This run was not recorded. Turn on “Record traffic” when you start a run or in the trigger settings to see requests, responses and mails here.',
  recordANewRun: 'Record a new run',
} as const

/** Texts of pages/runs/traffic-row.tsx. */
export const trafficRowText = {
  n0Ms: '0 ms',
  attempt: (attempt: number) => `, attempt ${attempt}`,
  failed: 'failed',
  goToStep: 'Go to step',
  copyAsCurl: 'Copy as curl',
  mail: 'Mail',
  request: 'Request',
  requestBodyFor: (targetOf: string) => `Request body for ${targetOf}`,
  mailServerReply: 'Mail server reply',
  status: (status: number) => `Status ${status}`,
  responseBodyFrom: (targetOf: string) => `Response body from ${targetOf}`,
  noResponseYet: 'No response yet.',
  theResponseExceededTheSize: 'The response exceeded the size limit, or was not read to its end.',
  noBody: 'No body.',
  ofBinaryData: (bytes: string) => `${bytes} of binary data`,
  showAll: (bytes: string) => `Show all ${bytes}`,
} as const

/** Texts of pages/runs/traffic-words.ts. */
export const trafficWordsText = {
  to: (value: string) => `to ${value}`,
  noRecipient: 'no recipient',
  noResponseYet: 'No response yet',
  noResponse: 'No response',
} as const

/** Texts of pages/runs/traffic.tsx. */
export const trafficText = {
  traffic: 'Traffic',
} as const

/** Texts of pages/runs/trigger-words.ts. */
export const triggerWordsText = {
  manualTrigger: 'Manual trigger',
  schedule: 'Schedule',
  mail: 'Mail',
  slack: 'Slack',
  event: 'Event',
  apiTrigger: 'API trigger',
  startedDirectly: 'Started directly',
  waitingForInput: 'waiting for input',
  waitingForApproval: 'waiting for approval',
  waitingForASignIn: 'waiting for a sign-in',
  waitingForADecision: 'waiting for a decision',
  waitingForMoreBudget: 'waiting for more budget',
  waiting: (kind: string) => `waiting: ${kind}`,
} as const

/** Texts of pages/runs/use-answer.ts. */
export const answerText = {
  answerSubmitted: 'Answer submitted',
} as const

/** Texts of pages/runs/variable-field.tsx. */
export const variableFieldText = {
  useTheStoredValueOf: (name: string) => `Use the stored value of ${name}`,
  show: (name: string) => `Show ${name}`,
} as const

/** Texts of pages/runs/variable-fields.ts. */
export const variableFieldsText = {
  requiredToStartTheRun: 'Required to start the run.',
  enterAValueOrRestoreThe: 'Enter a value, or restore the default.',
} as const

/** Texts of pages/runs/waiting-runs.tsx. */
export const waitingRunsText = {
  waitingForInput: 'Waiting for input',
  started: 'started',
  review: (blueprintTitle: string) => `Review ${blueprintTitle}`,
  showAllWaitingRuns: 'Show all waiting runs',
} as const
