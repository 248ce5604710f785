import { count } from './count'

/** Texts of pages/settings/add-member.tsx. */
export const addMemberText = {
  isNow: (name: string, role: string) => `${name} is now ${role === 'member' ? 'a' : 'an'} ${role}`,
  noUserOfThisServerHas: 'No user of this server has the email',
  theOperatorCanAddThisUser: '. The operator can add this user with the command below. Then add the user here.',
  commandToAddTheUser: 'Command to add the user',
} as const

/** Texts of pages/settings/agent.ts. */
export const agentText = {
  headlessChrome: 'Headless Chrome',
  on: (browser: string, system: string) => `${browser} on ${system}`,
  unknownBrowser: 'Unknown browser',
} as const

/** Texts of pages/settings/audit-details.tsx. */
export const auditDetailsText = {
  hideDetails: 'Hide details',
  showDetails: 'Show details',
  details: (what: string) => `Details: ${what}`,
  when: 'When',
  procedure: 'Procedure',
  target: 'Target',
  actor: 'Actor',
  theOperator: 'the operator',
  entry: (actionWords: string, at: string) => `Entry: ${actionWords}, ${at}`,
} as const

/** Texts of pages/settings/audit-filters.tsx. */
export const auditFiltersText = {
  log: 'Log',
  yourActions: 'Your actions',
  yourPersonalWorkspace: 'Your personal workspace',
  everyoneIn: (name: string) => `Everyone in ${name}`,
  area: 'Area',
  allAreas: 'All areas',
  source: 'Source',
  anySource: 'Any source',
  dashboard: 'Dashboard',
  api: 'API',
  commandLine: 'Command line',
  approvalLink: 'Approval link',
  searchByNameActionOrId: 'Search by name, action or ID',
  filterTheAuditLog: 'Filter audit log',
} as const

/** Texts of pages/settings/audit-page.tsx. */
export const auditPageText = {
  action: 'Action',
  target: 'Target',
  source: 'Source',
  time: 'Time',
  auditLog: 'Audit log',
  whoChangedWhatWhenAndHow: 'Who changed what, when and how. Entries cannot be edited. Old entries are deleted.',
  ofTheEntriesOnThisPage: (length: number, length2: number) =>
    `${length} of the ${length2} entries on this page match.`,
  auditLogNewestFirst: 'Audit log, newest first',
  noEntriesFound: 'No entries found',
  theFiltersSearchThisPageOnly: 'The filters search this page only. Older entries are on the next pages.',
  noEntryMatchesTheseFilters: 'No entry matches these filters.',
  clearFilters: 'Clear filters',
  noEntriesYet: 'No entries yet',
  everyChangeIsRecordedHere: 'Every change is recorded here.',
  entry: 'entry',
  auditLogPages: 'Audit log pages',
  formerUser: 'Former user',
  theOperator: 'The operator',
} as const

/** Texts of pages/settings/audit-words.ts. */
export const auditWordsText = {
  created: 'created',
  revoked: 'revoked',
  changed: 'changed',
  deleted: 'deleted',
  renamed: 'renamed',
  applied: 'applied',
  draft: 'draft',
  blueprint: 'blueprint',
  category: 'category',
  connection: 'connection',
  organization: 'organization',
  run: 'run',
  a: (verb: string, kind: string) => `${verb} ${/^[aeio]/i.test(kind) ? 'an' : 'a'} ${kind}`,
  apiKey: 'API key',
  ratedABlueprint: 'rated a blueprint',
  addedABlueprintToFavourites: 'added a blueprint to favourites',
  removedABlueprintFrom: 'removed a blueprint from favourites',
  setTheCategoriesOfABlueprint: 'set the categories of a blueprint',
  ranABlueprint: 'ran a blueprint',
  validatedABlueprint: 'validated a blueprint',
  cancelledARun: 'cancelled a run',
  answeredARun: 'answered a run',
  madeAnApprovalLink: 'copied an approval link',
  approvalLink: 'Approval link',
  aPersonWithALink: 'A person with a link',
  retriedARun: 'retried a run',
  createdATrigger: 'created a trigger',
  changedATrigger: 'changed a trigger',
  deletedATrigger: 'deleted a trigger',
  firedATrigger: 'fired a trigger',
  redeliveredToATrigger: 'redelivered to a trigger',
  rotatedTheSecretOfATrigger: 'rotated the secret of a trigger',
  removedACollaborator: 'removed a collaborator',
  testedAConnection: 'tested a connection',
  startedASignInToA: 'started a sign-in to a connection',
  signedInToAConnection: 'signed in to a connection',
  removedAMember: 'removed a member',
  wasAddedAsAUser: 'was added as a user',
  receivedAPasswordLink: 'received a password link',
  changedTheSandboxRules: 'changed the sandbox rules',
  changedTheSandboxExpectations: 'changed the sandbox expectations',
  clearedTheSandbox: 'cleared the sandbox',
  sentAWebhookFromTheSandbox: 'sent a webhook from the sandbox',
  advancedTheClock: 'advanced the clock',
  signedIn: 'signed in',
  setAPasswordWithALink: 'set a password with a link',
  signedOut: 'signed out',
  endedASession: 'ended a session',
  changedThePassword: 'changed the password',
  failedToSignIn: 'failed to sign in',
  enteredAWrongCurrentPassword: 'entered a wrong current password',
  signedOutEverywhere: 'signed out everywhere',
  changedTheirName: 'changed their name',
  changedTheirNameTo: (name: string) => `changed their name to "${name}"`,
  removed: (userName: string) => `removed ${userName}`,
  the: (verb: string, kind: string, name: string) => `${verb} the ${kind} "${name}"`,
  aCollaborator: 'a collaborator',
  aMember: 'a member',
  changedTheRoleOf: (who: string) => `changed the role of ${who}`,
  changedTheRoleOfFromTo: (who: string, roleBefore: string, role: string) =>
    `changed the role of ${who} from ${roleBefore} to ${role}`,
  addedAsACollaborator: (who: string, role: string) => `added ${who} as a collaborator (${role})`,
  addedAs: (who: string, role: string) => `added ${who} as ${role}`,
  api: 'API',
  dashboard: 'Dashboard',
  commandLine: 'Command line',
  organizations: 'Organizations',
  account: 'Account',
  other: 'Other',
} as const

/** Texts of pages/settings/grants-page.tsx. */
export const grantsPageText = {
  grantsForRevoked: (title: string) => `Grants for “${title}” revoked`,
  allGrants: (value: number) => `all ${value} grants`,
  theGrant: 'the grant',
  revokeFor: (word: string, title: string) => `Revoke ${word} for “${title}”?`,
  stepsThatUseYourResourcesWill: 'Steps that use your resources will fail until you grant the version again.',
  author: 'Author',
  granted: 'Granted',
  revokeGrantsFor: (title: string) => `Revoke grants for ${title}`,
  grants: 'Grants',
  blueprintVersionsByOtherUsers:
    'Blueprint versions by other users that may use your connections, sign-ins, private blueprints, files and secret variables when a run acts for you.',
  grantedVersions: 'Granted versions',
  noGrants: 'No grants',
  aTriggerOrAFailedRun: 'A trigger or a failed run asks for a grant when another user’s version needs your resources.',
} as const

/** Texts of pages/settings/key-scopes.ts. */
export const keyScopesText = {
  fullAccess: 'Full access',
  everythingYouCanDoIncluding: 'Everything you can do, including members, keys and the audit log.',
  read: 'Read',
  viewBlueprintsRunsTriggersAnd: 'View blueprints, runs, triggers and connections, without secrets.',
  readAndRun: 'Read and run',
  viewStartAnswerCancelAndRetry: 'View; start, answer, cancel and retry runs; fire triggers; call MCP tools.',
  readAndWrite: 'Read and write',
  viewChangeBlueprintsTriggers:
    'View; change blueprints, triggers, connections, categories, ratings and grants; build blueprints as an agent.',
  readRunAndWrite: 'Read, run and write',
  everythingExceptOrganizations: 'Everything except organizations, members, collaborators, keys and the audit log.',
  in7Days: 'In 7 days',
  in30Days: 'In 30 days',
  in90Days: 'In 90 days',
  in1Year: 'In 1 year',
  customTime: 'Custom time',
} as const

/** Texts of pages/settings/keys-page.tsx. */
export const keysPageText = {
  keyRevoked: 'Key revoked',
  revoke: (name: string) => `Revoke "${name}"?`,
  theKeyEndingIn: 'The key ending in',
  stopsWorkingImmediatelyThis: 'stops working immediately. This cannot be undone.',
  lastUsed: 'Last used',
  itWasNeverUsed: ' It was never used.',
  endsIn: 'Ends in',
  access: 'Access',
  expires: 'Expires',
  state: 'State',
  revoked: 'Revoked',
  revoke2: (name: string) => `Revoke ${name}`,
  newApiKey: 'New API key',
  apiKeys: 'API keys',
  programsScriptsAndMcpClients: 'Programs, scripts and MCP clients authenticate with an API key.',
  yourApiKeys: 'Your API keys',
  noApiKeys: 'No API keys',
  createOneKeyPerProgramSo: 'Create one key per program, so that you can revoke each separately.',
  showRevokedKeys: (hidden: number) => `Show revoked keys (${hidden})`,
  expired: 'Expired',
} as const

/** Texts of pages/settings/limits-list.ts. */
export const limitsListText = {
  requests: 'Requests',
  requestsPerSecond: 'Requests per second',
  forEachApiKeyAndEach: (value: string) => `${value} for each API key and each user`,
  averageFurtherRequestsGet429: 'Average. Further requests get 429 with the time to wait.',
  burstSize: 'Burst size',
  requestsThatMayArriveAtOnce: 'Requests that may arrive at once before the average applies',
  requestSize: 'Request size',
  appliesToApiCallsAndWebhook: 'Applies to API calls and webhook deliveries. Larger ones get 413.',
  responseTimeout: 'Response timeout',
  timeThatACallOrWebhook: 'How long a call or webhook waits for its run. The run continues afterwards.',
  concurrentRuns: 'Concurrent runs',
  furtherRunsAreQueuedInOrder: 'Further runs are queued in order of arrival.',
  queuedRuns: 'Queued runs',
  furtherRequestsGet503AndShould: 'Further requests get 503 and should be retried.',
  history: 'History',
  retentionOfFinishedRuns: 'Retention of finished runs',
  failedRunsAreKeptThreeTimes: 'Failed runs are kept three times as long, or deleted last.',
  retentionOfDeliveries: 'Retention of deliveries',
  theLedgerOfTriggersDeliveries:
    'The ledger of triggers. Deliveries with an ID that started a run stay at least 72 hours.',
  auditLogRetention: 'Audit log retention',
  theRecordOfChanges: 'The record of changes',
  databaseSize: 'Database size',
  inMemory: 'In memory',
  beyondThisSizeTheOldest: 'Beyond this size, the oldest finished runs are deleted.',
  forever: 'Forever',
  theNewest: (value: string) => `The newest ${value}`,
  days: (n: number) => count(n, 'day'),
  hours: (n: number) => count(n, 'hour'),
  minutes: (n: number) => count(n, 'minute'),
} as const

/** Texts of pages/settings/limits-page.tsx. */
export const limitsPageText = {
  limits: 'Limits',
  limitsOfThisServerTheOperator: 'Limits of this server. The operator sets them with flags or environment variables.',
  yourBlueprints: 'Your blueprints',
  thisServer: 'This server',
  blueprintsYouCreated: 'Blueprints you created',
  deletedBlueprintsDoNotCount: 'Deleted blueprints do not count.',
  of: (blueprints: string, maxBlueprints: string) => `${blueprints} of ${maxBlueprints}`,
  noLimit: (blueprints: string) => `${blueprints}, no limit`,
  shareOfTheAllowedBlueprints: 'Share of the allowed blueprints',
  or: (variableOf: string) => `or ${variableOf}`,
  serverClock: 'Server clock',
  virtualShows: 'Virtual: shows',
  untilItIsAdvanced: 'until it is advanced',
  storage: 'Storage',
  inMemoryDataIsLostWhen: 'In memory: data is lost when the server stops',
  onDisk: 'On disk',
  mail: 'Mail',
  receivedForAddressesAt: (mailDomain: string) => `Received for addresses at ${mailDomain}`,
  notReceivedEnableWith: 'Not received (enable with',
  smtpAddr: '--smtp-addr',
  nodeTypes: 'Node types',
  apiAddress: 'API address',
  types: (n: number) => count(n, 'type'),
} as const

/** Texts of pages/settings/members-table.tsx. */
export const membersTableText = {
  isNow: (value: string, value2: string) => `${value} is now ${value2}`,
  changeYourRoleTo: (value: string) => `Change your role to ${value}?`,
  onlyAnotherOwnerCanRestoreYour: 'Only another owner can restore your owner rights.',
  changeMyRole: 'Change my role',
  leave: (name: string) => `Leave ${name}?`,
  youLoseAccessToItsBlueprints:
    'You lose access to its blueprints, runs and connections, except blueprints that you created. An admin can add you again.',
  leave2: 'Leave',
  removeFrom: (value: string, name: string) => `Remove ${value} from ${name}?`,
  theyLoseAccessToItsBlueprints:
    'They lose access to its blueprints, runs and connections, except blueprints that they created. You can add them again.',
  youLeft: (name: string) => `You left ${name}`,
  removed: (value: string) => `${value} removed`,
  roleOf: (value: string) => `Role of ${value}`,
  remove: (value: string) => `Remove ${value}`,
  members: 'Members',
  youAreTheOnlyOwnerTo: 'You are the only owner. To leave, make another member an owner first.',
  searchMembers: 'Search members',
  membersOf: (name: string) => `Members of ${name}`,
  noMemberMatchesThisSearch: 'No member matches this search.',
  member: 'member',
  memberPages: 'Member pages',
} as const

/** Texts of pages/settings/name-form.tsx. */
export const nameFormText = {
  nameSaved: 'Name saved',
  visibleToOthersInYour: 'Visible to others in your organizations',
  youSignInWithItIt: 'You sign in with it. It cannot be changed.',
  saveName: 'Save name',
} as const

/** Texts of pages/settings/new-key.tsx. */
export const newKeyText = {
  chooseATimeInTheFuture: 'Choose a time in the future.',
  copyYourKeyNow: 'Copy your key now',
  newApiKey: 'New API key',
  theProgramOrPersonThatUses: 'The program or user that uses the key',
  laptop: 'Laptop',
  access: 'Access',
  expires: 'Expires',
  time: 'Time',
  createKey: 'Create key',
  thisKeyIsShownOnlyOnce: 'This key is shown only once',
  theServerStoresAHashAnd:
    'The server stores a hash and the last four characters. Save the key in a password manager. If you lose it, revoke it and create another.',
  apiKey: 'API key',
  example: 'Example',
} as const

/** Texts of pages/settings/organization-page.tsx. */
export const organizationPageText = {
  organizations: 'Organizations',
  organizationNotFound: 'Organization not found',
  youLeftItOrWereRemoved: 'You left it or were removed. Its admins can add you again.',
  yourOrganizations: 'Your organizations',
  renamedTo: (name: string) => `Renamed to “${name}”`,
  auditLog: 'Audit log',
  personalWorkspace: 'Personal workspace',
  yourRole: (value: string) => `Your role: ${value}`,
  onlyYouHaveAccess: 'Only you have access',
  blueprintsThatYouCreateWithout:
    'Blueprints that you create without choosing an organization are stored here. No other user can join. To share, add collaborators to a blueprint or create an organization.',
  addAMember: 'Add a member',
  rolePermissions: 'Role permissions',
  you: ' (you)',
  api: 'API',
  organizationId: 'Organization ID',
  rename: (name: string) => `Rename ${name}`,
} as const

/** Texts of pages/settings/organizations-page.tsx. */
export const organizationsPageText = {
  personalWorkspace: 'Personal workspace',
  yourRole: 'Your role',
  created: (name: string) => `“${name}” created`,
  organizations: 'Organizations',
  organizationsShareBlueprints:
    'Organizations share blueprints, runs and connections among their members. Your personal workspace is yours alone.',
  newOrganization: 'New organization',
  yourOrganizations: 'Your organizations',
  create: 'Create',
  youBecomeItsOwnerAndCan: 'You become its owner and can add members.',
} as const

/** Texts of pages/settings/password-form.tsx. */
export const passwordFormText = {
  passwordChangedAllOther: 'Password changed. All other sessions have ended.',
  currentPassword: 'Current password',
  showOrHideTheCurrentPassword: 'Show or hide the current password',
  newPassword: 'New password',
  changePassword: 'Change password',
  it: (issue: string) => `It ${issue}.`,
} as const

/** Texts of pages/settings/profile-page.tsx. */
export const profilePageText = {
  signOutEverywhere: 'Sign out everywhere?',
  allYourSessionsEndIncluding: 'All your sessions end, including this one. API keys keep working.',
  signOutEverywhere2: 'Sign out everywhere',
  profile: 'Profile',
  yourDetails: 'Your details',
  password: 'Password',
  changingItEndsAllYourOther: 'Changing it ends all your other sessions. API keys keep working.',
  sessions: 'Sessions',
  browsersInWhichYouAreSigned:
    'Browsers in which you are signed in. A session ends 30 days after its last use, and after 90 days at most.',
} as const

/** Texts of pages/settings/roles.ts. */
export const rolesText = {
  viewsChangesAndRunsThe:
    "Views, changes and runs the organization's blueprints, answers runs and uses connections. Deletes only blueprints that they created.",
  alsoDeletesAnyBlueprintMakes:
    'Also deletes any blueprint, makes blueprints public, adds collaborators, changes connections, renames the organization, manages members and reads the audit log.',
  alsoAppointsAdminsAndOwners: 'Also appoints admins and owners. There is always at least one owner.',
} as const

/** Texts of pages/settings/sessions-table.tsx. */
export const sessionsTableText = {
  sessionEnded: 'Session ended',
  endTheSessionOf: (agent: string) => `End the session of ${agent}?`,
  thatBrowserMustSignInAgain: 'That browser must sign in again.',
  endSession: 'End session',
  browser: 'Browser',
  thisBrowser: 'This browser',
  signedIn: 'Signed in',
  lastUsed: 'Last used',
  notUsedYet: 'not used yet',
  expires: 'Expires',
  endSessionOf: (agent: string) => `End session of ${agent}`,
  yourSessions: 'Your sessions',
} as const

/** Texts of pages/settings/settings-frame.tsx. */
export const settingsFrameText = {
  settings: (title: string) => `${title} settings`,
} as const

/** Texts of pages/settings/status-page.tsx. */
export const statusPageText = {
  status: 'Status',
  onlyTheOwnerSeesThis: 'Runs of all users, queue, disk and health checks. Visible only to the owner of the server.',
  couldNotLoadTheStatus: 'Could not load the status',
  ready: 'Ready',
  notReady: 'Not ready: it accepts no work',
  checksFailed: (failed: number) => `${count(failed, 'check')} failed`,
  allChecksPassed: 'All checks passed',
  runsOfTheLast24Hours: 'Runs of the last 24 hours',
  now: 'Now',
  activeRuns: 'Active runs',
  queuedRuns: 'Queued runs',
  ofAtMost: (now: string, most: string) => `${now} of ${most}`,
  waiting: 'Waiting runs',
  waitingForATime: (runs: string) => `${runs} for a timer`,
  waitingForAnAnswer: (runs: string) => `${runs} for an answer`,
  waitingForTheirGroup: (runs: string) => `${runs} for their concurrency group`,
  diskOfTheDatabase: 'Database',
  freeOnItsDisk: (free: string) => `${free} free on its disk`,
  limitedTo: (limit: string) => `limited to ${limit}`,
  inMemory: 'in memory',
  memory: 'Memory',
  connections: 'Open connections',
  schedules: 'Schedules',
  overdueMissed: (overdue: number, missed: number) => `${overdue} overdue, ${missed} missed since the start`,
  nextRuns: 'Next scheduled runs',
  yourSchedules: 'Only the schedules that you can see',
  due: 'Due',
  noScheduleIsActive: 'No schedule is active.',
  processes: 'Processes',
  process: 'Process',
  duties: 'Duties',
  lease: 'Lease',
  states: { live: 'Live', leaving: 'Leaving', drained: 'Drained', dead: 'Dead' },
  checks: 'Checks',
  check: 'Check',
  passed: 'Passed',
  failed: 'Failed',
  details: 'Details',
  versions: 'Versions',
  versionAndSchema: (kind: string, schema: number) => `${kind}, schema version ${schema}`,
  databases: { sqlite: 'SQLite', postgres: 'PostgreSQL' },
} as const

/** Texts of pages/settings/tools-page.tsx. */
export const toolsPageText = {
  disabled: (name: string) => `${name} disabled`,
  enabled: (name: string) => `${name} enabled`,
  tool: 'Tool',
  enabled2: 'Enabled',
  enable: (name: string) => `Enable ${name}`,
  mcpTools: 'MCP tools',
  apiTriggersOfPublished:
    'API triggers of published blueprints are tools at /mcp. Your own are enabled by default; enable those of other users here. A call acts for the owner of the tool.',
  noTools: 'No tools',
  apiTriggersOfTheBlueprintsYou: 'API triggers of the blueprints you manage appear here.',
} as const
