/** Texts of pages/authority/changes.tsx. */
export const changesText = {
  loadingTheChanges: 'Loading the changes',
  viewBlueprint: 'View blueprint',
  changesSinceVersionWhichYou: (version: string) => `Changes since version ${version}, which you wrote or granted`,
  youHaveNotWrittenOrGranted: 'You have not written or granted an earlier version. All changes are shown',
  hideChanges: 'Hide changes',
  nothing: 'nothing',
  showChanges: 'Show changes',
} as const

/** Texts of pages/authority/failed-grants.tsx. */
export const failedGrantsText = {
  theConnection: 'the connection',
  theBlueprint: 'the blueprint',
  theSecretVariable: 'the secret variable',
  theFile: 'the file',
  yourSignInAt: 'your sign-in at',
  retryStarted: 'Retry started',
  grantNeeded: 'Grant needed',
  wroteTheNodesOfThisRun: (author: string) =>
    `This run uses unsaved nodes by ${author}. Only saved versions can be granted.`,
  thisRunActsForAnotherUser:
    'This run acts for another user. Ask them to grant the version, or retry the run as yourself.',
  grantVersionAndRetry: (version: string) => `Grant version ${version} and retry`,
  theRunStoppedBeforeUsing: (value: string, value2: string) =>
    `The run stopped before using ${value} “${value2}”. Nothing was sent.`,
  anotherVersionNeedsAGrantToo: ' Another version needs a grant too; you can grant it after the retry.',
} as const

/** Texts of pages/authority/grant-note.tsx. */
export const grantNoteText = {
  versionGranted: (version: string) => `Version ${version} granted`,
  grantVersionBy: (version: string, author: string) => `Grant version ${version} by ${author}?`,
  aGrantLetsThisVersionUse:
    'A grant lets this version use your connections, sign-ins, private blueprints, files and secret variables. Later versions by other users need their own grant.',
  notGranted: 'Not granted',
  grantVersion: (version: string) => `Grant version ${version}`,
  aFormerUser: 'a former user',
} as const

/** Texts of pages/authority/trigger-grant.tsx. */
export const triggerGrantText = {
  thisTriggerRunsAsYouBut:
    'This trigger runs as you, but another user wrote the current version. Steps that use your resources fail until you grant it.',
  notGrantedBy: (author: string) => `Not granted by ${author}`,
  thisTriggerRunsAsButAnother: (author: string, version: string) =>
    `This trigger runs as ${author}, but another user wrote version ${version}. Steps that use their resources fail until they grant it.`,
} as const
