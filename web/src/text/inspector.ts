import { count } from './count'

/** Texts of inspector/behaviour-section.tsx. */
export const behaviourSectionText = {
  behaviour: 'Behaviour',
  hasProblems: 'has problems',
  default: 'default',
} as const

/** Texts of inspector/behaviour.ts. */
export const behaviourText = {
  theRunFailsNoFurtherNode: 'The run fails. No further node starts.',
  theRunContinuesTheOutputOf: 'The run continues. The output of this node is {"error": {"message", "code"}}.',
  onlyTheEdgesOfTheError:
    'Only the edges of the "error" output are taken. The output is {"error": {"message", "code"}}. Connect "error" to the node that handles it.',
  hasNoEffectOutsideTheRun: 'has no effect outside the run; it runs again after a crash',
  canSafelyBeSentTwiceBecause:
    'can safely be sent twice because it carries an idempotency key; it runs again with the same key after a crash',
  mustNotHappenTwiceIfA: 'must not happen twice; if a crash leaves the outcome unknown, the run pauses and asks',
  pure: 'Pure',
  idempotent: 'Idempotent',
  once: 'Once',
  onError: 'On error',
  stopTheRun: 'Stop the run',
  continue: 'Continue',
  takeTheErrorOutput: 'Take the "error" output',
  repeatsFailedAttemptsBeforeThe: 'Repeats failed attempts before the node counts as failed.',
  attempts: 'Attempts',
  includingTheFirst: 'Including the first',
  firstDelay: 'First delay',
  growth: 'Growth',
  factorByWhichEachDelayGrows: 'Factor by which each delay grows',
  timeout: 'Timeout',
  forOneAttemptWithoutATimeout: 'For one attempt. Without a timeout, the limits of the node type apply.',
  effect: 'Effect',
  defaultOfThisType: (value: string | undefined) => `${value} (default of this type)`,
  text: (value: string | undefined, value2: string | undefined) => `${value}: ${value2}.`,
  theDefaultOfThisTypeIs: (own: string) =>
    `The default of this type is ${own}. Change it only if you know how the service handles a repeated request.`,
  disabled: 'Disabled',
  skipsTheNodeAndPassesIts: 'Skips the node and passes its input on.',
  continuesOnError: 'continues on error',
  branchesOnError: 'branches on error',
  attempts2: (maxAttempts: number) => `${count(maxAttempts, 'attempt')}`,
  timeout2: (duration: string) => `timeout ${duration}`,
  effect2: (effect: string) => `effect ${effect}`,
  oneAttemptNoRetries: 'One attempt, no retries.',
  andSoOnAtMost5: ', and so on (at most 5 minutes each)',
  waitsBetweenAttempts20: (delays: string, word: string) => `Waits ${delays}${word} between attempts, ±20%.`,
} as const

/** Texts of inspector/data-section.tsx. */
export const dataSectionText = {
  data: 'Data',
  run: 'Run',
  lastRun: (status: string) => `Last run · ${status}`,
  runOf: (at: string, status: string, id: string) => `${at} · ${status} · …${id}`,
  runToSeeData: 'Run the blueprint to see its data here.',
  outputOfThisNode: 'Output of this node',
  clickToInsert: 'Click a value to insert its path.',
  pin: 'Pin the output',
  unpin: 'Unpin the output',
  pinned: 'The output is pinned in this browser: parts of the blueprint that you run use it.',
  expand: (name: string) => `Expand ${name}`,
  collapse: (name: string) => `Collapse ${name}`,
  insert: (path: string) => `Insert ${path}`,
} as const

/** Texts of inspector/last-run-tab.tsx. */
export const lastRunTabText = {
  loadingTheLastRun: 'Loading the last run',
  notPartOfTheLastRun: 'Not part of the last run',
  noRunsYet: 'No runs yet',
  thisNodeDidNotRunIn: 'This node did not run in the last run. Run the blueprint to see its input and output.',
  runTheBlueprintToSeeThe:
    'Run the blueprint to see the input and output of this node. Its values are then suggested after {{.',
  item: 'Item',
  attempt: 'attempt',
  inputOf: (title: string) => `Input of ${title}`,
  outputOf: (title: string) => `Output of ${title}`,
} as const

/** Texts of inspector/node-id-row.tsx. */
export const nodeIdRowText = {
  enterAnId: 'Enter an ID.',
  anotherNodeHasThisId: 'Another node has this ID.',
  theIdMustNotContain: 'The ID must not contain "]/".',
  chooseRenameOrCancel: 'choose Rename or Cancel',
  notApplied: (value: string) => `Not applied: ${value}`,
  id: 'ID',
  renameTheId: (id: string) => `Rename the ID ${id}`,
  lettersDigitsAndWorkBestIn: 'Letters, digits and _ work best in templates, for example nodes.fetch.output.',
} as const

/** Texts of inspector/node-inspector.tsx. */
export const nodeInspectorText = {
  runThisNode: 'Run this node',
  runFromHere: 'Run from here',
  node: (value: string) => `Node ${value}`,
  views: 'Views of the node',
  thisServerDoesNotKnowThis: 'This server does not know this node type.',
  lastRun: 'Last run',
  openLoopBody: 'Open loop body',
  duplicate: 'Duplicate',
  deleteNode: 'Delete node',
  config: 'Config',
  runsAnotherBlueprintForEach: 'Runs another blueprint for each item.',
  noNodeRunsForTheItems: 'No node runs for the items yet.',
  runsNodesForEachItem: (n: number) => `Runs ${count(n, 'node')} for each item.`,
} as const

/** Texts of inspector/node-json-tab.tsx. */
export const nodeJsonTabText = {
  notApplied: (fault: string) => `Not applied: ${fault}`,
  nodeAsJson: 'Node as JSON',
  reset: 'Reset',
} as const

/** Texts of inspector/node-json.ts. */
export const nodeJsonText = {
  invalidJsonLineColumn: (line: number, column: number, message: string) =>
    `invalid JSON (line ${line}, column ${column}: ${message})`,
  theNodeMustBeAnObject: 'the node must be an object',
  mustBeAString: (key: string) => `"${key}" must be a string`,
  configMustBeAnObject: '"config" must be an object',
  theIdMustStayUseRename: (stringify: string) =>
    `the ID must stay ${stringify} (use Rename, which also updates references)`,
} as const

/** Texts of inspector/scope.ts. */
export const scopeText = {
  inputOfTheNode: 'input of the node',
  currentItem: 'current item',
  positionOfTheItemFrom0: 'position of the item, from 0',
  inputOfTheRun: 'input of the run',
  outputsOfEarlierNodes: 'outputs of earlier nodes',
  approvalLink: 'single-use approval link',
  whatStartedTheRun: 'what started the run',
  theRun: 'the run',
  theBlueprintOfTheRun: 'the blueprint of the run',
  currentTimeForExample202601: 'current time, for example 2026-01-31T12:00:00.000Z',
  setBy: (value: string) => `set by ${value}`,
  setByWhichDoesNotLead: (value: string) => `set by ${value}, which does not lead here`,
  secretVariable: 'secret variable',
} as const

/** Texts of inspector/variable-default.tsx. */
export const variableDefaultText = {
  default: 'Default',
  aValueIsStoredButNot: 'A value is stored but not shown. Type to replace it.',
  replacesTheStoredValueWhenYou: 'Replaces the stored value when you save.',
  theStoredValueIsRemovedWhen: 'The stored value is removed when you save.',
  noValueIsStoredEveryRun: 'No value is stored. Every run needs one.',
  value: 'Value',
  removeStoredValue: 'Remove stored value',
  notAppliedNotANumber: 'Not applied: not a number',
  notAppliedEnterTrueOrFalse: 'Not applied: enter true or false',
  notAppliedInvalidJsonLine: (line: number, column: number, message: string) =>
    `Not applied: invalid JSON (line ${line}, column ${column}: ${message})`,
} as const

/** Texts of inspector/variable-row.tsx. */
export const variableRowText = {
  unnamed: 'unnamed',
  variable: (called: string) => `Variable ${called}`,
  secret: 'Secret',
  required: 'Required',
  problem: 'Problem',
  moveUp: (called: string) => `Move ${called} up`,
  moveDown: (called: string) => `Move ${called} down`,
  remove: (called: string) => `Remove ${called}`,
  runsWithoutAValueAreRefused: 'Runs without a value are refused, unless there is a default.',
  storedEncryptedShownAsInRuns: 'Stored encrypted. Shown as *** in runs and logs.',
  noValue: 'no value',
  emptyText: 'empty text',
  notUsed: 'not used',
  noNodeRefersToItDirectly: 'No node refers to it directly. A script may still use it.',
  usedIn: 'Used in',
  andMore: (value: number) => `and ${value} more`,
} as const

/** Texts of inspector/variables-editor.tsx. */
export const variablesEditorText = {
  addVariable: 'Add variable',
  noVariables: 'No variables',
  aVariableIsANamedValue:
    'A variable is a named value for nodes, for example {{region}}. A run can set its own value; otherwise the default is used. Secret variables are encrypted and never shown.',
} as const

/** Texts of inspector/variables.ts. */
export const variablesText = {
  yesOrNo: 'Yes or no',
  enterAName: 'Enter a name.',
  useOnlyLettersDigitsAnd: 'Use only letters, digits and _.',
  isReservedTheServerSetsIt: (name: string) => `"${name}" is reserved. The server sets it.`,
  alreadyExists: (name: string) => `"${name}" already exists.`,
} as const
