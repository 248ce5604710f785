import { count } from './count'

/** Texts of pages/triggers/active-switch.tsx. */
export const activeSwitchText = {
  active: (listensTo: string, blueprint_title: string) => `Active: ${listensTo}, ${blueprint_title}`,
} as const

/** Texts of pages/triggers/again.tsx. */
export const againText = {
  deliveredAgainARunWasStarted: 'Delivered again. A run started.',
  deliverAgain: 'Deliver again?',
  deliverAgain2: 'Deliver again',
  thisDeliveryAlreadyStartedARun:
    'This delivery already started a run. A second run repeats everything the blueprint does.',
  runStartedWithThisBody: 'Run started with this body',
  startARunWithThisBody: 'Start a run with this body?',
  startRun: 'Start run',
  thisSkipsTheSignatureCheckAnd:
    'This skips the signature check and all filters. Do this only if you trust the source.',
  fireWithThisBody: 'Fire with this body',
  activateTheTriggerFirst: 'Activate the trigger first.',
  theBodyWasNotStoredSo: 'The body was not stored, so it cannot be delivered again.',
  appliesTheCurrentSettingsOfThe: 'Applies the current settings of the trigger.',
} as const

/** Texts of pages/triggers/api-fields.tsx. */
export const apiFieldsText = {
  apiCall: 'API call',
  inputSchema: 'Input schema',
  jsonSchemaDraft202012Bodies:
    'JSON Schema, draft 2020-12. Bodies that do not match get 400 and start no run. Leave empty to accept any object.',
  insertAnExample: 'Insert an example',
} as const

/** Texts of pages/triggers/blueprint-select.tsx. */
export const blueprintSelectText = {
  aBlueprintThatYouCannotSee: 'A blueprint you cannot see',
  noBlueprintsFound: 'No blueprints found',
  noBlueprint: 'No blueprint',
} as const

/** Texts of pages/triggers/body.tsx. */
export const bodyText = {
  empty: '(empty)',
  body: 'Body',
  deliveryBody: 'Delivery body',
} as const

/** Texts of pages/triggers/clock-change-view.tsx. */
export const clockChangeViewText = {
  thisBrowserDoesNotKnowThe: (zone: string) => `This browser does not know the time zone ${zone}.`,
  clocksInDoNotChangeWithin: (zone: string) => `Clocks in ${zone} do not change within two years`,
  afterThat: ' after that',
  previousChange: 'Previous change',
  nextChange: 'Next change',
  none: 'none',
  runs: (length: number) => `${count(length, 'run')}`,
  runsAroundTheClockChangeTo: (dayAndTime: string, dayAndTime2: string, word: string) =>
    `Runs around the clock change, ${dayAndTime} to ${dayAndTime2}: ${word}`,
  first: 'first',
  second: 'second',
  toOccursTwice: (reading: string, reading2: string) => `${reading} to ${reading2} occurs twice`,
  toIsSkipped: (reading: string, reading2: string) => `${reading} to ${reading2} is skipped`,
  doesNotExist: (reading: string) => `${reading} does not exist`,
  runs2: 'runs',
  skippedTime: 'skipped time',
  doesNotRunAgain: 'does not run again',
  localTimeIn: (zone: string) => `Local time in ${zone}`,
} as const

/** Texts of pages/triggers/clock-change.ts. */
export const clockChangeText = {
  runTimesFromTo: (length: number, reading: string, reading2: string) =>
    `${length} run times, from ${reading} to ${reading2},`,
  clocksInGoForwardFromTo: (date: string, name: string, reading: string, reading2: string) =>
    `${date}: clocks in ${name} go forward from ${reading} to ${reading2}. The time between is skipped.`,
  clocksInGoBackFromTo: (date: string, name: string, reading: string, reading2: string) =>
    `${date}: clocks in ${name} go back from ${reading} to ${reading2}. The time between occurs twice.`,
  theMinuteOrHourOfThis:
    'The minute or hour of this schedule is *, so it follows elapsed time and continues through the change.',
  itRunsInBothHours: 'it runs in both hours.',
  noRunFallsIntoThisTime: 'no run falls into this time.',
  theMinuteOrHourOfThis2: (word: string) =>
    `The minute or hour of this schedule is *, so it follows elapsed time: ${word}`,
  noRunFallsIntoThisTime2: 'No run falls into this time. The schedule runs as usual.',
  notExistMinuteAndHourAre: (said: string, one: boolean, reading: string) =>
    `${said} ${one ? 'does' : 'do'} not exist. Minute and hour are fixed, so it runs once at the first instant after the gap: ${reading}.`,
  twiceMinuteAndHourAreFixed: (said: string, one: boolean) =>
    `${said} ${one ? 'occurs' : 'occur'} twice. Minute and hour are fixed, so it runs only the first time.`,
} as const

/** Texts of pages/triggers/code-block.tsx. */
export const codeBlockText = {
  copy: (label: string) => `Copy ${label}`,
} as const

/** Texts of pages/triggers/common-fields.tsx. */
export const commonFieldsText = {
  label: 'Label',
  nameInLists: 'Its name in lists. By default, lists show what starts it.',
  nameInListsAndForAgents: 'Its name in lists, and that of the MCP tool for agents',
  limitsAndRecording: 'Limits and recording',
  limitConcurrentRuns: 'Limit concurrent runs',
  queuedAndPausedRunsCountToo: 'Queued and paused runs count too.',
  maximum: 'Maximum',
  n1To1000Runs: '1 to 1,000 runs',
  whenTheLimitIsReached: 'When the limit is reached',
  queueTheRun: 'Queue the run',
  upTo1000RunsAre: 'Up to 1,000 runs are queued. Then senders are asked to retry.',
  skipTheRun: 'Skip the run',
  theLedgerRecordsItAsSkipped: 'The ledger records it as skipped.',
  cancelTheOldestRun: 'Cancel the oldest run',
  theNewestRunAlwaysStarts: 'The newest run always starts.',
  pauseAfter20FailedRunsIn: 'Pause after 20 failed runs in a row',
  stopsABrokenTriggerTheLedger:
    'Stops a broken trigger. The ledger and the log record it. You can activate the trigger again.',
  theTriggerStaysActiveEvenIf: 'The trigger stays active even if its runs keep failing.',
  recordTraffic: 'Record traffic',
  storesRequestsResponsesAnd:
    'Stores requests, responses and mails for inspection and tests, without credentials. Uses up to several MiB per run.',
} as const

/** Texts of pages/triggers/cron-builder.tsx. */
export const cronBuilderText = {
  expressionBuilder: 'Expression builder',
  theBuilderCannotShowThis: 'The builder cannot show this expression. A selection here replaces it.',
  frequency: 'Frequency',
  atSpecificTimes: 'At specific times',
  everyFewHours: 'Every few hours',
  everyFewMinutes: 'Every few minutes',
  interval: 'Interval',
  minutes: (value: number) => `${count(value, 'minute')}`,
  from: 'From',
  to: 'To',
  hours: (value: number) => `${count(value, 'hour')}`,
  minute: 'Minute',
  hours2: 'Hours',
  minutes2: 'Minutes',
  days: 'Days',
  everyDay: 'Every day',
  daysOfTheWeek: 'Days of the week',
  daysOfTheMonth: 'Days of the month',
  months: 'Months',
  everyMonth: 'Every month',
  hour: (hour: string) => `${hour} h`,
} as const

/** Texts of pages/triggers/cron-words.ts. */
export const cronWordsText = {
  sunday: 'Sunday',
  monday: 'Monday',
  tuesday: 'Tuesday',
  wednesday: 'Wednesday',
  thursday: 'Thursday',
  friday: 'Friday',
  saturday: 'Saturday',
  january: 'January',
  february: 'February',
  march: 'March',
  april: 'April',
  may: 'May',
  june: 'June',
  july: 'July',
  august: 'August',
  september: 'September',
  october: 'October',
  november: 'November',
  december: 'December',
  everyDay: (time: string) => `every day ${time}`,
  everyMinute: 'every minute',
  everyMinutes: (step: number) => `every ${step} minutes`,
  at: (list: string) => `at ${list}`,
  at2: (minutes: number, spans: string) => ` at ${minutes > 1 ? 'minutes' : 'minute'} ${spans}`,
  everyHour: (minute: string) => `every hour${minute}`,
  everyHour2: 'every hour',
  everyHours: (hourStep: number, minute: string) => `every ${hourStep} hours${minute}`,
  everyHourFromTo: (clock: string, clock2: string) => `every hour from ${clock} to ${clock2}`,
  atMinutesOfTheHours: (spans: string, spans2: string) => `at minutes ${spans} of the hours ${spans2}`,
  fromTo: (pace: string, clock: string, clock2: string) => `${pace} from ${clock} to ${clock2}`,
  ofTheHours: (pace: string, spans: string) => `${pace} of the hours ${spans}`,
  everyDayIn: (month: string) => `every day in ${month}`,
  in: (month: string) => ` in ${month}`,
  of: (month: string) => ` of ${month}`,
  ofEveryMonth: ' of every month',
  on: (date: string, ofMonth: string) => `on ${date}${ofMonth}`,
  onWhenItIsA: (date: string, ofMonth: string, list: string) => `on ${date}${ofMonth} when it is a ${list}`,
  onAnd: (date: string, ofMonth: string, everyWeekday: string, value: string) =>
    `on ${date}${ofMonth} and ${everyWeekday}${value}`,
  theTo: (first: string, last: string) => `the ${first} to ${last}`,
  everyDayFromTheToThe: (ordinal: string, first: string, last: string) =>
    `every ${ordinal} day from the ${first} to the ${last}`,
  the: (list: string) => `the ${list}`,
  everyWeekday: 'every weekday',
  everySaturdayAndSunday: 'every Saturday and Sunday',
  every: (list: string) => `every ${list}`,
  to: (value: number | undefined, at: number | undefined) => `${value} to ${at}`,
} as const

/** Texts of pages/triggers/edit-trigger-page.tsx. */
export const editTriggerPageText = {
  editTrigger: 'Edit trigger',
  starts: (title: string, blueprint_title: string) => `${title}, starts ${blueprint_title}`,
  onlyManagersOfTheBlueprintCan: 'Only managers of the blueprint can change its triggers.',
  couldNotOpenTheTrigger: 'Could not open the trigger',
  couldNotSaveTheTrigger: 'Could not save the trigger',
  saveTrigger: 'Save trigger',
  otherSettingsThatStayUnchanged: (others: string) => `Other settings that stay unchanged: ${others}.`,
} as const

/** Texts of pages/triggers/email-fields.tsx. */
export const emailFieldsText = {
  senders: 'Senders',
  allowedSenders: 'Allowed senders',
  addressesSuchAsAdaExampleOrg:
    'Addresses such as ada@example.org, or @example.org for a domain. Leave empty to allow everyone. Other mail is accepted and skipped.',
  typeAnAddressAndPressEnter: 'Type an address and press Enter',
  removeAll: 'Remove all',
  requireSenderAuthentication: 'Require sender authentication',
  theDomainOfTheSenderMust:
    'The domain of the sender must pass DMARC, or DKIM or SPF for the same domain. Without this check, the From address can be forged.',
  anyoneWhoKnowsTheAddressCan: 'Anyone who knows the address can start runs. Keep the address secret.',
  attachments: 'Attachments',
  keepAttachments: 'Keep attachments',
  theRunAndItsViewersCan: 'The run and its viewers can download them as files.',
  dropAttachments: 'Drop attachments',
  theRunSeesOnlyTheText: 'The run sees only the text. The list of attachments is empty.',
  thisServerDoesNotReceiveMail: 'This server does not receive mail',
  startItWithSmtpAddrFor:
    'Start it with --smtp-addr (for example --smtp-addr :25) and --mail-domain, the domain whose MX record points to this server. You can create the trigger before that.',
} as const

/** Texts of pages/triggers/event-fields.tsx. */
export const eventFieldsText = {
  firesWhen: (event: string) => `Fires when ${event}.`,
  firesWhenAnEmitEventNode: (event: string) => `Fires when an emit-event node named ${event} runs.`,
  anEventOfTheServerOr: 'An event of the server, or custom. followed by the name of an emit-event node.',
  event: 'Event',
  aCustomEvent: 'a custom event',
  blueprintFilter: 'Blueprint filter',
  onlyEventsOfThisBlueprintAnd:
    'Only events of this blueprint and its runs. A blueprint does not receive events of its own runs.',
  anyBlueprintOfTheOrganization: 'Any blueprint of the organization',
} as const

/** Texts of pages/triggers/fields.ts. */
export const fieldsText = {
  entry: (value: number) => `Entry ${value}`,
  within: (label: string, place: string) => `${label}: ${place}`,
  requiredForThisSender: 'required for this sender',
} as const

/** Texts of pages/triggers/fire-dialog.tsx. */
export const fireDialogText = {
  fireTrigger: 'Fire trigger',
  startsNodesReadTheInputAs: (blueprint_title: string) =>
    `Starts ${blueprint_title}. Nodes read the input as {{inputData}}.`,
  startsAsIfThisInputHad: (blueprint_title: string, input: string) =>
    `Starts ${blueprint_title} as if this input had been received. ${input}`,
  inputData: 'Input data',
  optionalAJsonObject: 'Optional. A JSON object.',
  order1042: '{"order": 1042}',
  recordTraffic: 'Record traffic',
  allRunsOfThisTriggerAre: 'All runs of this trigger are recorded.',
  storesTheTrafficBetweenTheRun: 'Stores the traffic between the run and other services, without credentials.',
  couldNotStartARun: 'Could not start a run',
  runStarted: 'Run started',
  viewRun: 'View run',
  fireAgain: 'Fire again',
  fire: 'Fire',
} as const

/** Texts of pages/triggers/firing-drawer.tsx. */
export const firingDrawerText = {
  outcome: 'Outcome',
  noExplanationAvailable: 'No explanation available',
  viewRun: 'View run',
  nextSteps: 'Next steps',
  openDelivery: 'Open delivery',
  key: 'key',
  firing: 'firing',
  deliveredAgain: 'Delivered again',
  run: (value: string) => `Run …${value}`,
  headers: 'Headers',
  body: 'Body',
  storedWith: 'Stored with',
  theOriginalDelivery: 'the original delivery',
  none: 'None.',
  notStored: 'Not stored.',
  truncatedTheFullSizeIs: (bytes: string) => `Truncated. The full size is ${bytes}.`,
  rawData: 'Raw data',
} as const

/** Texts of pages/triggers/kinds.tsx. */
export const kindsText = {
  aForm: 'Form',
  nextRuns: 'Next runs',
  sendADelivery: 'Send a delivery',
  signedWithASecret: 'signed with a secret',
  unsigned: 'unsigned',
  webhook: (value: string) => `Webhook, ${value}`,
  callTheApi: 'Call the API',
  sendMail: 'Send mail',
  mailTo: (textOf: string) => `Mail to ${textOf}`,
  mailToItsAddress: 'Mail to its address',
  connectSlack: 'Connect Slack',
  in: (word: string, replace: string) => ` in ${word}${replace}`,
  everyEvent: 'every event',
  slack2: (value: string, where: string) => `Slack: ${value}${where}`,
  emitTheEvent: 'Emit the event',
  isEmitted: (event: string) => `${event} is emitted`,
  ofOneBlueprint: ', of one blueprint',
  when: (value: string, value2: string) => `When ${value}${value2}`,
  fireTheTrigger: 'Fire the trigger',
  redelivery: 'Redelivery',
  sampleSubject: 'Hello',
  sampleText: 'Hello there',
} as const

/** Texts of pages/triggers/ledger-filters.ts. */
export const ledgerFiltersText = {
  anyDecision: 'Any decision',
  duplicate: 'Duplicate',
  skipped: 'Skipped',
  refused: 'Refused',
  coalesced: 'Coalesced',
  anyRun: 'Any run',
  runActive: 'Run active',
  runWaiting: 'Run waiting',
  runCompleted: 'Run completed',
  runFailed: 'Run failed',
} as const

/** Texts of pages/triggers/ledger.tsx. */
export const ledgerText = {
  received: 'Received',
  source: 'Source',
  decision: 'Decision',
  reason: 'Reason',
  noRun: 'no run',
  filterTheLedger: 'Filter ledger',
  searchByDeliveryId: 'Search by delivery ID',
  anySource: 'Any source',
  runStatus: 'Run status',
  time: 'Time',
  couldNotLoadTheLedger: 'Could not load the ledger',
  firingsNewestFirst: 'Firings, newest first',
  noEntriesFound: 'No entries found',
  noEntryMatchesTheseFiltersA: 'No entry matches these filters. A delivery ID must be complete.',
  clearFilters: 'Clear filters',
  noFiringsYet: 'No firings yet',
  everyEventThatReachesThis:
    'Every event that reaches this trigger is listed here, with its outcome and reason. You can inspect events and deliver them again.',
  firing: 'firing',
  ledgerPages: 'Ledger pages',
  redeliverSeveral: 'Redeliver several',
} as const

/** Texts of pages/triggers/new-trigger-page.tsx. */
export const newTriggerPageText = {
  triggersOfTheBlueprint: 'Triggers of the blueprint',
  newTrigger: 'New trigger',
  chooseATriggerType: 'Choose a trigger type.',
  newTrigger2: (title: string) => `New trigger: ${title}`,
  changeType: 'Change type',
  triggerCreatedAndActive: 'Trigger created and active',
  couldNotCreateTheTrigger: 'Could not create the trigger',
  theBlueprintToStartYouMust: 'The blueprint to start. You must be one of its managers.',
  chooseABlueprint: 'Choose a blueprint',
  chooseABlueprint2: 'Choose a blueprint.',
  thisTriggerHasNoSettingsFire: 'This trigger has no settings. Fire it on its page, or call blueprintTriggers.fire.',
  createTrigger: 'Create trigger',
} as const

/** Texts of pages/triggers/next-runs.tsx. */
export const nextRunsText = {
  nextRuns: 'Next runs',
  couldNotComputeTheNextRuns: 'Could not compute the next runs',
  noRunsWithinTheNextHundred: 'No runs within the next hundred years.',
  list: 'List',
  nextClockChange: 'Next clock change',
  localTime: (localZone: string) => `Local time (${localZone})`,
  fromNow: 'From now',
} as const

/** Texts of pages/triggers/paused-note.tsx. */
export const pausedNoteText = {
  pausedByTheServer: 'Paused by the server',
  itRetriesAutomaticallyWithThe: 'It retries automatically with the first delivery after',
  itStaysPausedUntilSomeone: 'It stays paused until someone activates it. ',
  deliveriesReceivedMeanwhileAre: 'Deliveries received while it is paused are in the ledger. You can redeliver them.',
  activate: 'Activate',
} as const

/** Texts of pages/triggers/redeliver-several.tsx. */
export const redeliverSeveralText = {
  refused: 'Refused',
  startedARunThatFailed: 'Started a run that failed',
  skipped: 'Skipped',
  coalesced: 'Coalesced',
  duplicates: 'Duplicates',
  startedARun: 'Started a run',
  redeliverSeveral: 'Redeliver several',
  eachDeliveryIsDecidedAgainWith: 'Each delivery is decided again with the current settings, oldest first.',
  deliveries: 'Deliveries',
  from: 'From',
  untilOptional: 'Until (optional)',
  includeDeliveriesThatWere: 'Include deliveries that were already redelivered',
  byDefaultNothingIsRedelivered: 'By default, nothing is redelivered twice.',
  couldNotCountTheDeliveries: 'Could not count the deliveries',
  redeliveryStopped: 'Redelivery stopped',
  count: 'Count',
  redeliver: (matched: string) => `Redeliver ${matched}`,
  withMore: (value: string) => ` with ${value} more`,
  continue: (word: string) => `Continue${word}`,
  theTriggerIsPausedActivateIt: 'The trigger is paused. Activate it first.',
  noMatchingDeliveries: 'No matching deliveries',
  noDeliveryMatchesOrAllWere: 'No delivery matches, or all were already redelivered.',
  firingsToRedeliver: (matched: number) => `${count(matched, 'firing')} to redeliver`,
  andOthersTheyAreSentIn: (value: number) => `and ${count(value, 'other')}. They are sent in batches of 100.`,
  refusedAgain: (value: string) => `, ${value} refused again`,
  runsStarted: (redelivered: number, word: string) => `${count(redelivered, 'run')} started${word}`,
  stoppedYouCanContinueWithThe: (stopped: string) => `Stopped: ${stopped}. You can continue with the rest.`,
  run: (value: string) => `Run …${value}`,
} as const

/** Texts of pages/triggers/rotate-dialog.tsx. */
export const rotateDialogText = {
  expiresImmediately: 'Expires immediately',
  n1Hour: '1 hour',
  n1Day: '1 day',
  n1Week: '1 week',
  n30Days: '30 days',
  rotateSecret: 'Rotate secret',
  newSecretActive: 'New secret active',
  thePreviousSecretIsValidUntil: 'The previous secret is valid until',
  giveTheSenderTheNewOne: '. Give the sender the new one before then.',
  thePreviousSecretIsNoLonger: 'The previous secret is no longer valid.',
  secret: 'Secret',
  newSecret: 'New secret',
  pasteTheSigningSecretFromSlack: 'Paste the signing secret from Slack.',
  inSlackBasicInformationOfThe: 'In Slack: Basic Information of the app, Regenerate.',
  leaveEmptyToGenerateASecret: 'Leave empty to generate a secret.',
  validityOfTheCurrentSecret: 'Validity of the current secret',
  timeToUpdateTheSenderOnly: 'Time to update the sender. Only one earlier secret is kept.',
  couldNotRotateTheSecret: 'Could not rotate the secret',
  rotate: 'Rotate',
} as const

/** Texts of pages/triggers/run-line.tsx. */
export const runLineText = {
  nextRunsFromTo: (length: number, dayAndTime: string, dayAndTime2: string, zone: string) =>
    `Next ${count(length, 'run')}, from ${dayAndTime} to ${dayAndTime2}, ${zone}`,
  localTime: (here: string) => `Local time (${here})`,
} as const

/** Texts of pages/triggers/sample-input.ts. */
export const sampleInputText = {
  mustBeAJsonObject: 'Must be a JSON object: { … }.',
  invalidJson: 'Invalid JSON.',
} as const

/** Texts of pages/triggers/schedule-fields.tsx. */
export const scheduleFieldsText = {
  schedule: 'Schedule',
  cronExpression: 'Cron expression',
  minuteHourDayOfTheMonth: 'Minute, hour, day of the month, month, weekday. The builder above can write it for you.',
  runs: (schedule: string) => `Runs ${schedule}.`,
  nextRuns: 'Next runs',
  missedRuns: 'Missed runs',
  runsMissedWhileTheServerWas: 'Runs missed while the server was down',
  runOnce: 'Run once',
  startsOneRunForTheLast: 'Starts one run for the last missed time. missedCount is the number of missed times.',
  runAll: 'Run all',
  upToTheLast100: 'Up to the last 100',
  skip: 'Skip',
  continuesWithTheNextTimeThe: 'Continues with the next time. The ledger records the missed ones.',
} as const

/** Texts of pages/triggers/secret-field.tsx. */
export const secretFieldText = {
  showOrHideTheSecret: 'Show or hide the secret',
  generate: 'Generate',
} as const

/** Texts of pages/triggers/slack-fields.tsx. */
export const slackFieldsText = {
  slackApp: 'Slack app',
  signingSecret: 'Signing secret',
  fromApiSlackComYourApp:
    'From api.slack.com: your app, Basic Information, App Credentials. Slack signs every event with it.',
  events: 'Events',
  eventType: 'Event type',
  nameOfTheSlackEventLeave: 'Name of the Slack event. Leave empty for all events the app subscribes to.',
  channel: 'Channel',
  idSuchAsC0123456789ShownIn:
    'ID such as C0123456789 (shown in the channel details in Slack), or name. Leave empty for all channels.',
  usedToLookUpChannelNames: 'Used to look up channel names. Needs a Slack connection with the bot token of the app.',
  chooseAConnection: 'Choose a connection',
  noSlackConnections: 'No Slack connections',
  noConnection: 'No connection',
  appMention: 'app_mention',
} as const

/** Texts of pages/triggers/test-delivery.tsx. */
export const testDeliveryText = {
  sendADelivery: 'Send a delivery',
  theSignatureIsComputedHereOver: 'The signature is computed here over the exact bytes of the body below.',
  thisTriggerHasNoSecretAnyone: 'This trigger has no secret. Anyone who knows the address can send to it.',
  body: 'Body',
  sendTestDelivery: 'Send test delivery',
  nextSample: 'Next sample',
  theTriggerIsPausedAndWould: 'The trigger is paused and would respond 404.',
  couldNotSendTheDelivery: 'Could not send the delivery',
  curl: 'curl',
  curlCommand: 'curl command',
  theSignatureIncludesTheTimeSo:
    'The signature includes the time, so this command is valid for five minutes. It is refreshed every 30 seconds.',
  duplicateDeliveryNoNewRun: ': duplicate delivery, no new run',
  response: (status: number, word: string) => `Response ${status}${word}`,
  viewRun: 'View run',
  responseBody: 'Response body',
} as const

/** Texts of pages/triggers/trigger-actions.tsx. */
export const triggerActionsText = {
  triggerDeleted: 'Trigger deleted',
  deleteThisTrigger: 'Delete this trigger?',
  itsAddressStopsWorkingAndIts: (listensTo: string) =>
    `${listensTo}. Its address stops working and its ledger is deleted. Active runs continue. This cannot be undone. Pause the trigger to keep everything.`,
  activateItFirst: 'Activate it first',
  fire: 'Fire',
  pause: 'Pause',
  activate: 'Activate',
  moreActions: 'More actions',
  rotateSecret: 'Rotate secret',
} as const

/** Texts of pages/triggers/trigger-facts.tsx. */
export const triggerFactsText = {
  openTheForm: 'Open the form',
  mailAddress: 'Mail address',
  requestUrlForSlack: 'Request URL for Slack',
  url: 'URL',
  expression: 'Expression',
  nextRun: 'Next run',
  noneWhilePaused: 'none while paused',
  missedRuns: 'Missed runs',
  runAll: 'run all',
  runOnce: 'run once',
  skip: 'skip',
  none: 'none',
  theOutputOfTheRun: 'the output of the run',
  acceptedImmediately: 'accepted immediately',
  previousSecret: 'Previous secret',
  validUntil: 'valid until',
  accepts: 'Accepts',
  mailFromEveryone: 'mail from everyone',
  mustBeAuthenticated: 'must be authenticated',
  notChecked: 'not checked',
  fromBlueprint: 'From blueprint',
  mustMatchTheSchema: 'must match the schema',
  anyJsonObject: 'any JSON object',
  limit: 'Limit',
  failingRuns: 'Failing runs',
  doNotPauseTheTrigger: 'do not pause the trigger',
  runsAs: 'Runs as',
  you: (creator_name: string) => `you (${creator_name})`,
  furtherRunsAreSkipped: 'further runs are skipped',
  aFurtherRunCancelsTheOldest: 'a further run cancels the oldest',
  furtherRunsAreQueued: 'further runs are queued',
  triggerId: 'Trigger ID',
  concurrentRuns: (limit: number, then: string) => `${count(limit, 'concurrent run')}; ${then}`,
} as const

/** Texts of pages/triggers/trigger-page.tsx. */
export const triggerPageText = {
  couldNotOpenTheTrigger: 'Could not open the trigger',
  triggerNotFound: 'Trigger not found',
  allTriggers: 'All triggers',
  triggerPages: 'Trigger pages',
  ledger: 'Ledger',
} as const

/** Texts of pages/triggers/trigger-table.tsx. */
export const triggerTableText = {
  nextRun: 'Next run',
  none: 'none',
  onDelivery: 'on delivery',
  lastFiring: 'Last firing',
  starts: (blueprint_title: string) => `Starts ${blueprint_title}`,
  urlEndsIn: (end: string) => `, URL ends in …${end}`,
  runsAs: (creator_name: string) => `, runs as ${creator_name}`,
  pausedByTheServer: 'Paused by the server:',
  noneYet: 'none yet',
} as const

/** Texts of pages/triggers/triggers-page.tsx. */
export const triggersPageText = {
  newTrigger: 'New trigger',
} as const

/** Texts of pages/triggers/triggers-view.tsx. */
export const triggersViewText = {
  filterTriggers: 'Filter triggers',
  searchTriggers: 'Search triggers',
  anyType: 'Any type',
  anyStatus: 'Any status',
  couldNotLoadTheTriggers: 'Could not load the triggers',
  noTriggersFound: 'No triggers found',
  noTriggerMatchesTheseFilters: 'No trigger matches these filters.',
  clearFilters: 'Clear filters',
  trigger: 'trigger',
  triggerPages: 'Trigger pages',
  triggersAreHidden: 'Triggers are hidden',
  onlyPeopleWhoManageThis: 'Only managers of this blueprint can see its triggers.',
  newTrigger: 'New trigger',
  startAutomatically: 'Start automatically',
  aTriggerStartsABlueprintWhen:
    'A trigger starts a blueprint when something happens. Its ledger shows every event it received, and why a run did or did not start. Choose a type.',
} as const

/** Texts of pages/triggers/type-cards.tsx. */
export const typeCardsText = {
  triggerTypes: 'Trigger types',
} as const

/** Texts of pages/triggers/use-it.tsx. */
export const itText = {
  fireTheTrigger: 'Fire the trigger',
  nextRuns: 'Next runs',
  theTriggerIsPausedTheseRuns: 'The trigger is paused. These runs would start if it were active.',
  callTheApi: 'Call the API',
  theBodyBecomesTheInputOf:
    'The body becomes the input of the run. The response is 202 with the run ID. A repeated Idempotency-Key returns the same ID and starts no second run. You need an API key.',
  createApiKey: 'Create API key',
  curl: 'curl',
  curlCommand: 'curl command',
  javascript: 'JavaScript',
  javascriptSample: 'JavaScript sample',
  agentsFindItAsATool: 'Agents find it as a tool at /mcp while it is active and the blueprint is published.',
  connectSlack: 'Connect Slack',
  apiSlackComApps: 'api.slack.com/apps',
  chooseYourAppThenEvent: ', choose your app, then Event Subscriptions. Turn on Enable Events.',
  pasteThisAsTheRequestUrl: 'Paste this as the Request URL. Slack verifies it immediately.',
  requestUrl: 'Request URL',
  underSubscribeToBotEventsAdd: 'Under Subscribe to bot events, add',
  theEventsYouWant: 'the events you want',
  thenSave: ', then save.',
  reinstallTheAppIfSlackAsks: 'Reinstall the app if Slack asks for it, and invite the bot to the channel:',
  inviteYourApp: '/invite @your-app',
  triggerAnEventInSlackAnd: 'Trigger an event in Slack and check the ledger here.',
  slackMustBeAbleToReach:
    'Slack must be able to reach the URL over HTTPS. If the ledger reports a signature mismatch, the signing secret is from another app.',
  sendMail: 'Send mail',
  sendAMessageToOrForward: (address: string) => `Send a message to ${address}, or forward mail to it. `,
  eachMessageStartsOneRunA: (word: string) =>
    `${word}Each message starts one run. A repeated message starts no second run. Attachments become files of the run.`,
  filteredMailIsAcceptedAnd:
    'Filtered mail is accepted and listed in the ledger as skipped. While the trigger is paused, mail is rejected and the sender is notified.',
  emitTheEvent: 'Emit the event',
  anyBlueprintOfTheOrganization: 'Any blueprint of the organization can emit it with this node:',
  emitEventNode: 'emit-event node',
  theServerEmitsEachTrigger: (event: string) =>
    `The server emits ${event}. Each trigger receives it once, even after a crash.`,
  aBlueprintDoesNotReceiveEvents:
    'A blueprint does not receive events of its own runs. Event chains end after 16 steps.',
} as const

/** Texts of pages/triggers/webhook-fields.tsx. */
export const webhookFieldsText = {
  hmacSha256AnySender: 'HMAC-SHA256 (any sender)',
  xWebhookSignatureXSignatureOr:
    'X-Webhook-Signature, X-Signature or X-Hub-Signature-256 with the hexadecimal HMAC-SHA256 of the body, or the Standard Webhooks headers. All signatures present must be valid.',
  xHubSignature256InThe:
    'X-Hub-Signature-256. In the webhook settings on GitHub, choose application/json and paste the secret. X-GitHub-Delivery is the ID.',
  stripeSignatureUseTheSigning:
    'Stripe-Signature. Use the signing secret (whsec_…) of the endpoint from the Stripe dashboard. The event ID prevents duplicate runs.',
  xSlackSignatureForExampleFor:
    'X-Slack-Signature, for example for slash commands as JSON. For events of a Slack app, use a Slack trigger.',
  standardWebhooks: 'Standard Webhooks',
  webhookIdWebhookTimestampAnd:
    'webhook-id, webhook-timestamp and webhook-signature, as sent by Svix, OpenAI and others. The secret starts with whsec_.',
  peopleWithAForm: 'People, with a form',
  browsersGetAForm: 'The address shows a form to anyone who has it. Each time it is sent, a run starts.',
  form: 'Form',
  aJsonSchemaWhoseProperties:
    'A JSON Schema (draft 2020-12). Its properties are the fields: texts, numbers, choices, checkboxes and files.',
  afterSending: 'After sending',
  whatThePageSays: 'What the page says. With the response Wait for the run, the result is shown instead.',
  yourAnswersWereReceived: 'Your answers were received. You can close this page.',
  exampleTitle: 'Contact us',
  exampleName: 'Your name',
  exampleEmail: 'Email address',
  exampleMessage: 'Your message',
  secret: 'Secret',
  aNewSecretAppliesImmediatelyTo:
    'A new secret applies immediately. To give senders time, use Rotate secret on the trigger page.',
  sharedBySenderAndTriggerProves:
    'Shared by sender and trigger. Proves who sent a delivery and that it was not modified.',
  withoutASecretAnyoneWhoKnows: 'Without a secret, anyone who knows the URL can start runs.',
  acceptImmediately: 'Accept immediately',
  n202WithTheRunIdAs: '202 with the run ID as soon as the delivery is stored. Suitable for most services.',
  waitForTheRun: 'Wait for the run',
  theSenderGetsTheResponseOf: 'The sender gets the response of the respond node, or the output of the run.',
  gitHub: 'GitHub',
  stripe: 'Stripe',
  slack: 'Slack',
} as const

/** Texts of pages/triggers/words.ts. */
export const wordsText = {
  githubSignature: 'GitHub signature',
  stripeSignature: 'Stripe signature',
  slackSignature: 'Slack signature',
  standardWebhooksSignature: 'Standard Webhooks signature',
  aRunCompleted: 'a run completed',
  aRunFailed: 'a run failed',
  aRunIsWaitingForInput: 'a run is waiting for input',
  aBlueprintWasCreated: 'a blueprint was created',
  aBlueprintWasUpdated: 'a blueprint was updated',
  aBlueprintWasPublished: 'a blueprint was published',
  aScheduleMissedARun: 'a schedule missed a run',
} as const

/** Texts of pages/triggers/zone-select.tsx. */
export const zoneSelectText = {
  timeZone: 'Time zone',
  timesReferToThisZoneYour: (localZone: string) => `Times refer to this zone. Your zone is ${localZone}.`,
  noTimeZonesFound: 'No time zones found',
} as const

/** Texts of pages/triggers/signature.ts. */
export const signatureText = {
  sampleText: 'Hello',
} as const

/** Texts of pages/triggers/use-it.tsx. */
export const useItText = {
  sampleTitle: 'Notify',
} as const
