import { count } from './count'

/** Texts of pages/editor/canvas.tsx. */
export const canvasText = {
  insertIntoAnEdge: 'insert into an edge',
  insertedIntoTheEdge: 'Inserted into the edge',
  moveOfANode: 'move a node',
  moveOfNodes: (length: number) => `move ${count(length, 'node')}`,
  dragFromAnOutputOnThe: 'Drag from an output on the right to the left side of another node.',
  canvas: 'Canvas',
  minimap: 'Minimap',
} as const

/** Texts of pages/editor/catalogue.tsx. */
export const catalogueText = {
  flow: 'Flow',
  data: 'Data',
  people: 'People',
  services: 'Services',
  events: 'Events',
  results: 'Results',
  typesOf: (category: string) => `${category}, node types`,
  searchNodeTypes: 'Search node types',
  enter: 'Enter',
  noNodeTypeMatches: (text: string) => `No node type matches "${text}".`,
} as const

/** Texts of pages/editor/conflict-dialog.tsx. */
export const conflictDialogText = {
  aNewerVersionWasSaved: 'A newer version was saved',
  versionWasSavedAfterYouStarted: (version: string) =>
    `Version ${version} was saved after you started editing. Differences from your version:`,
  theVariablesDiffer: 'The variables differ.',
  differences: 'Differences',
  hideDifferences: 'Hide differences',
  showDifferences: 'Show differences',
  continueEditing: 'Continue editing',
  discardMineAndLoadTheirs: 'Discard mine and load theirs',
  saveMineAsANewVersion: 'Save mine as a new version',
  theirVersionStaysInTheVersion: 'Their version stays in the version list. Loading it discards your changes.',
  onlyInYours: 'Only in yours',
  onlyInTheirs: 'Only in theirs',
  different: 'Different',
  andMore: (value: number) => ` and ${value} more`,
  edgesDiffer: (length: number) => `Different edges: ${length}.`,
  onlyNodePositionsOrOrderDiffer: 'Only node positions or order differ.',
} as const

/** Texts of pages/editor/connect-dialog.tsx. */
export const connectDialogText = {
  connect: (value: string) => `Connect ${value}`,
  to: 'To',
  chooseANode: 'Choose a node',
  noNodesFound: 'No nodes found',
  thereIsNoOtherNodeYet: 'There is no other node yet. Add one first.',
  connect2: 'Connect',
  always: 'always',
} as const

/** Texts of pages/editor/draft-note.tsx. */
export const draftNoteText = {
  unsavedChangesFound: 'Unsaved changes found',
  from: 'From',
  basedOnVersionCurrentVersionIs: (madeOn: string, version: string) =>
    `, based on version ${madeOn}; current version is ${version}`,
  restoreChanges: 'Restore changes',
  discardChanges: 'Discard changes',
} as const

/** Texts of pages/editor/editor-page.tsx. */
export const editorPageText = {
  couldNotOpenTheEditor: 'Could not open the editor',
} as const

/** Texts of pages/editor/editor-skeleton.tsx. */
export const editorSkeletonText = {
  loadingTheEditor: 'Loading the editor',
} as const

/** Texts of pages/editor/editor.tsx. */
export const editorText = {
  node: 'Node',
  issues: 'Issues',
  addAfter: (value: string) => `Add after “${value}”`,
  addOnTheSelectedEdge: 'Add on the selected edge',
  addAtTheEnd: 'Add at the end',
  nodeTypes: 'Node types',
  addNode: 'Add node',
  closeNodeTypes: 'Close node types',
} as const

/** Texts of pages/editor/graph-area.tsx. */
export const graphAreaText = {
  graph: 'Graph',
  noNodesInThisLoopYet: 'No nodes in this loop yet',
  noNodesYet: 'No nodes yet',
  eachNodeDoesOneThingCall: 'Each node does one thing: call a service, decide, wait or write. Add your first node.',
  addFirstNode: 'Add first node',
} as const

/** Texts of pages/editor/help-dialog.tsx. */
export const helpDialogText = {
  addANodeBefore: 'Add a node before this one',
  ctrl: 'Ctrl',
  nextOrPreviousNode: 'Next or previous node',
  openNodeSettings: 'Open node settings',
  backToCanvas: 'From a panel back to the canvas',
  nodeActions: 'Node actions',
  addToOrRemoveFromSelection: 'Add to or remove from selection',
  click: 'Click',
  selectAllOrNone: 'Select all or none',
  moveSelectionOrInLargerSteps: 'Move selection, or in larger steps',
  addANode: 'Add a node',
  connectToAnotherNode: 'Connect to another node',
  renameNode: 'Rename node',
  disableOrEnable: 'Disable or enable',
  copyCutPaste: 'Copy, cut, paste',
  duplicate: 'Duplicate',
  undoRedo: 'Undo, redo',
  arrangeNodes: 'Arrange nodes',
  groupNodes: 'Group the selected nodes',
  addANote: 'Add a note',
  fitToView: 'Fit to view',
  zoom: 'Zoom',
  keyboardShortcuts: 'Keyboard shortcuts',
} as const

/** Texts of pages/editor/issues-panel.tsx. */
export const issuesPanelText = {
  notChecked: 'Not checked',
  checking: 'Checking',
  noProblems: 'No problems',
  fixFieldsThatAreNotApplied:
    'Fix the fields marked “Not applied” before you save. Steps with other errors fail when they run.',
  stepsWithErrorsFailWhenThey: 'Steps with errors fail when they run. You can still save.',
  recommendationsYouCanSaveAnd: 'Recommendations. You can save and run the blueprint.',
  warning: 'Warning',
  variable: (variableName: string) => `Variable ${variableName}`,
  edgeFrom: (node: string) => `Edge from ${node}`,
  edge: 'Edge',
  errors: (n: number) => count(n, 'error'),
  warnings: (n: number) => count(n, 'warning'),
  error: 'Error',
} as const

/** Texts of pages/editor/levels.tsx. */
export const levelsText = {
  loopLevels: 'Loop levels',
} as const

/** Texts of pages/editor/node-search.tsx. */
export const nodeSearchText = {
  addANode: 'Add a node',
  after: (name: string, output: string) => (output ? `After “${name}”, ${output}` : `After “${name}”`),
  before: (name: string) => `Before “${name}”`,
} as const

/** Texts of pages/editor/note-cards.tsx. */
export const noteCardsText = {
  note: 'Note',
  writeANote: 'Write a note',
  deleteNote: 'Delete note',
  group: 'Group',
  titleOfTheGroup: 'Title of the group',
  ungroup: (title: string) => (title ? `Ungroup ${title}` : 'Ungroup'),
} as const

/** Texts of pages/editor/use-marks.ts. */
export const marksText = {
  changeANote: 'change a note',
  deleteANote: 'delete a note',
  changeAGroup: 'change a group',
  ungroup: 'ungroup',
} as const

/** Texts of pages/editor/operations.ts. */
export const operationsText = {
  withoutAnyEdgeTheNodesRun:
    'Without any edge, the nodes run one after another. Delete or disable a node, or draw another edge first.',
  aNodeCannotConnectToItself: 'A node cannot connect to itself.',
  theseNodesAreAlreadyConnected: 'These nodes are already connected.',
  more: (value: number) => `(${value} more)`,
  thisEdgeWouldCreateAnEndless: (shown: string) =>
    `This edge would create a cycle: ${shown}. Use a for-each node to repeat nodes.`,
} as const

/** Texts of pages/editor/order-as-edges.ts. */
export const orderAsEdgesText = {
  isDisabledSoItsEdgeIs: (name: string) =>
    `“${name}” is disabled, so its edge is always taken. Replace the edge before you enable the node.`,
  addsAStopNodeThatFails: (name: string) => `Adds a stop node that fails the run if “${name}” is rejected.`,
  nowBranchesOnErrorsBothEdges: (name: string) => `“${name}” now branches on errors. Both edges lead to the next node.`,
  inAForEachBodyA: 'In a for-each body, a rejection fails only its item. Edges cannot express that.',
  rejected: (value: string) => `Rejected: ${value}`,
} as const

/** Texts of pages/editor/overlay.tsx. */
export const overlayText = {
  widthOf: (label: string) => `Width: ${label}`,
} as const

/** Texts of pages/editor/use-part.ts. */
export const partText = {
  missing: (names: string) => `There is no output of ${names} in this run. Run the blueprint, or choose another run.`,
  runFromHere: 'Run from here?',
  runThisNode: 'Run this node?',
  actsForReal: (names: string) => `These nodes act on other systems: ${names}.`,
  masked: (paths: string) => `The data of this run has *** in place of masked values: ${paths}. The nodes get ***.`,
  more: (count: number) => `${count} more`,
  run: 'Run',
} as const

/** Texts of pages/editor/paste-dialog.tsx. */
export const pasteDialogText = {
  pasteNodes: 'Paste nodes',
  nodesAsJson: 'Nodes as JSON',
  copiedNodesABlueprintFileOr: 'Copied nodes, a blueprint file or a blueprint_map',
  paste: 'Paste',
} as const

/** Texts of pages/editor/paste.ts. */
export const pasteText = {
  thereIsNoTextToPaste: 'There is no text to paste.',
  theTextIsLargerThan5: 'The text is larger than 5 MiB.',
  theTextIsNotJson: 'The text is not JSON.',
  theJsonHasNoListNamed: 'The JSON has no list named nodes.',
  theListOfNodesIsEmpty: 'The list of nodes is empty.',
  aBlueprintHasAtMost10: 'A blueprint has at most 10,000 nodes.',
  nodes: (index: number, wrong: string) => `nodes[${index}]${wrong}`,
  edges: (index: number, wrong: string) => `edges[${index}]${wrong}`,
  theEdgesFormACycleAt: (source: string, target: string) => `The edges form a cycle at ${source} → ${target}.`,
  mustBeAnObject: ' must be an object.',
  idMustBeANonEmpty: '.id must be a non-empty string.',
  idDuplicateId: (id: string) => `.id: duplicate ID ${id}.`,
  typeMustBeTheNameOf: '.type must be the name of a node type.',
  titleMustBeAString: '.title must be a string.',
  configMustBeAnObject: '.config must be an object.',
  noNodeHasTheId: (end: string, show: string) => `.${end}: no node has the id ${show}.`,
  sourcehandleMustBeAString: '.sourceHandle must be a string.',
  connectsToItself: (value: string) => ` connects ${value} to itself.`,
  sourcehandleMustNotBeEmpty: '.sourceHandle must not be empty.',
} as const

/** Texts of pages/editor/rename-dialog.tsx. */
export const renameDialogText = {
  renameTheIdOf: (value: string) => `Rename the ID of ${value}`,
  id: 'ID',
  templatesUseTheIdForExample: 'Templates use the ID, for example nodes.id.output.',
  updateReferencesToIt: (word: number) => `Update ${count(word, 'reference')} to it`,
  noTemplateOrExpressionRefersTo: 'No template or expression refers to it. Edges are updated automatically.',
} as const

/** Texts of pages/editor/rename.ts. */
export const renameText = {
  enterAnId: 'Enter an ID.',
  useAtMost200Characters: 'Use at most 200 characters.',
  anotherNodeHasTheId: (to: string) => `Another node has the ID ${to}.`,
  theIdMustNotContainBecause: 'The ID must not contain ]/ because it separates the steps of a for-each.',
} as const

/** Texts of pages/editor/run-strip.tsx. */
export const runStripText = {
  lastRun: 'Last run',
  progress: 'Progress',
  waitingForInput: 'Waiting for input',
  failed: 'failed',
  ofSteps: (completedSteps: number, totalSteps: number) => `${completedSteps} of ${totalSteps} steps`,
  starting: 'Starting',
  viewRun: 'View run',
  closeRunStatus: 'Close run status',
} as const

/** Texts of pages/editor/selection-bar.tsx. */
export const selectionBarText = {
  inOrder: (wire: string) => `${wire}, in order`,
  nodes: (size: number) => `${count(size, 'node')}`,
  edges: (size: number) => `${size} edges`,
  notes: (size: number) => `${count(size, 'note')}`,
  and: ' and ',
  openLoopBody: 'Open loop body',
  connectToAnotherNode: 'Connect to another node',
  duplicate: 'Duplicate',
  disableOrEnable: 'Disable or enable',
  group: 'Group',
  alignLeft: 'Align left',
  alignTop: 'Align top',
  distributeHorizontally: 'Distribute horizontally',
  distributeVertically: 'Distribute vertically',
  insertANode: 'Insert a node',
  cut: 'Cut',
  renameId: 'Rename ID',
  insertTheExample: 'Insert the example',
  moveEarlier: 'Move earlier',
  moveLater: 'Move later',
  selection: 'Selection',
  moreActions: 'More actions',
} as const

/** Texts of pages/editor/side-panel.tsx. */
export const sidePanelText = {
  panel: 'Panel',
  node: 'Node',
  issues: (value: number) => `Issues (${value})`,
  issues2: 'Issues',
  closePanel: 'Close panel',
  nodesSelectedSelectOneToSee: (size: number) => `${count(size, 'node')} selected. Select one to see its settings.`,
  selectANodeToSeeIts: 'Select a node to see its settings.',
  notFilledInYet: 'Not filled in yet',
} as const

/** Texts of pages/editor/state.ts. */
export const stateText = {
  changeOfVariables: 'change variables',
  restoreChanges: 'restore changes',
} as const

/** Texts of pages/editor/toolbar.tsx. */
export const toolbarText = {
  addNode: 'Add node',
  undo: (undo: string) => `Undo ${undo}`,
  redo: (redo: string) => `Redo ${redo}`,
  arrangeNodes: 'Arrange nodes',
  viewOnly: 'View only',
  moreActions: 'More actions',
  pasteNodes: 'Paste nodes',
  addNote: 'Add note',
  keyboardShortcuts: 'Keyboard shortcuts',
  saveAndRun: 'Save and run',
  checking: 'Checking',
  notChecked: 'Not checked',
  noProblems: 'No problems',
  issues: (short: string | number, label: string) => `Issues: ${short}, ${label}`,
  issues2: (label: string) => `Issues: ${label}`,
  errors: (n: number) => count(n, 'error'),
  warnings: (n: number) => count(n, 'warning'),
  saveKeys: (command: string) => `${command} S`,
  runKeys: (command: string, dirty: boolean) => `${dirty ? 'Save and run' : 'Run'}: ${command} Enter`,
} as const

/** Texts of pages/editor/trigger-cards.tsx. */
export const triggerCardsText = {
  trigger: (name: string, active: boolean) => `Trigger: ${name}${active ? ', active' : ''}`,
  addATrigger: 'Add a trigger',
  addFirstNode: 'Add first node',
  noNodesYet: 'No nodes yet',
  allTriggers: 'All triggers',
  next: 'Next:',
  noNextRun: 'No next run',
} as const

/** Texts of pages/editor/trigger-panel.tsx. */
export const triggerPanelText = {
  changeType: 'Change type',
  newTrigger: (title: string) => `New trigger: ${title}`,
  addATrigger: 'Add a trigger',
  closePanel: 'Close panel',
  couldNotOpenTheTrigger: 'Could not open the trigger',
  firings: 'Firings and use',
  deleteTrigger: 'Delete trigger',
  mailAddress: 'Mail address',
  url: 'URL',
  nextRun: 'Next run:',
} as const

/** Texts of pages/editor/use-checked-save.ts. */
export const checkedSaveText = {
  notSavedAFieldIsNot: 'Not saved: a field is marked “Not applied”. Fix it and save again.',
} as const

/** Texts of pages/editor/use-beside.ts. */
export const besideText = {
  starts: (trigger: string, node: string) => `${trigger} starts ${node}`,
} as const

/** Texts of pages/editor/use-commands.ts. */
export const commandsText = {
  addedBefore: (title: string, titled: string) => `Added ${title} before ${titled}`,
  add: (title: string) => `add ${title}`,
  added: (title: string) => `Added ${title}`,
  addedAfter: (title: string, titled: string) => `Added ${title} after ${titled}`,
  connectedTo: (titled: string, titled2: string) => `Connected ${titled} to ${titled2}`,
  isNow: (value: string, to: string) => `${value} is now ${to}`,
  pasted: (value: string, word: string) => `Pasted ${value}${word}`,
  theOrderOfTheOtherNodes: (say: string) => `${say}. The order of the other nodes was converted to edges.`,
  aFieldOfIsNotApplied: (titled: string) =>
    `A field of “${titled}” is marked “Not applied”. Fix it before you rename the ID.`,
  theOrderIsNowDrawn: (notes: string) => `The order is now drawn as edges. ${notes}`,
  anEdge: 'an edge',
  edges: (size: number) => `${size} edges`,
  delete: (what: string) => `delete ${what}`,
  deleted: (what: string) => `Deleted ${what}`,
  withoutEdgesTheNodesRunOne: 'Without edges, the nodes run one after another in list order.',
  moveAnEdge: 'move an edge',
  rename: (id: string) => `rename ${id}`,
  isNow2: (id: string, to: string) => `${id} is now ${to}`,
  rename2: (value: string) => `rename ${value}`,
  change: (titled: string) => `change ${titled}`,
  disableOrEnable: 'disable or enable',
  changeTheOrder: 'change the order',
  movedEarlier: 'Moved earlier',
  movedLater: 'Moved later',
  move: (value: string) => `move ${value}`,
  duplicate: (value: string) => `duplicate ${value}`,
  duplicatedAs: (value: string) => `Duplicated ${value}`,
  insertTheExample: 'insert the example',
  exampleInserted: 'Example inserted',
  arrangeNodes: 'arrange nodes',
  align: 'align nodes',
  distribute: 'distribute nodes',
  addANote: 'add a note',
  noteAdded: 'Note added',
  group: (value: string) => `group ${value}`,
  grouped: (value: string) => `Grouped ${value}`,
  newGroup: 'Group',
  nodesArranged: 'Nodes arranged',
  copied: (value: string) => `Copied ${value}`,
  n1Node: '1 node',
  nodes: (nodes: number) => `${count(nodes, 'node')}`,
  notes: (notes: number) => `${count(notes, 'note')}`,
  and: ' and ',
} as const

/** Texts of pages/editor/use-editor.ts. */
export const useEditorText = {
  undone: (undo: string) => `Undone: ${undo}`,
  redone: (redo: string) => `Redone: ${redo}`,
} as const

/** Texts of pages/editor/use-guard.ts. */
export const guardText = {
  leaveWithoutSaving: 'Leave without saving?',
  yourChangesAreKeptInThis: 'Your changes are kept in this browser. You can restore them when you return.',
  leave: 'Leave',
  saveAndLeave: 'Save and leave',
  unsavedChanges: 'Unsaved changes',
} as const

/** Texts of pages/editor/use-save.ts. */
export const saveText = {
  savedVersion: (version: string) => `Saved version ${version}`,
} as const
