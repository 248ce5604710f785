import { count } from './count'

/** Texts of pages/blueprints/blueprint-layout.tsx. */
export const blueprintLayoutText = {
  couldNotOpenTheBlueprint: 'Could not open the blueprint',
  blueprintNotFound: 'Blueprint not found',
  allBlueprints: 'All blueprints',
  renameBlueprint: 'Rename blueprint',
  v: (version: string) => `v${version}`,
  view: 'View',
  share: 'Share',
  about: 'About',
  blueprintPages: 'Blueprint pages',
} as const

/** Texts of pages/blueprints/blueprint-menu.tsx. */
export const blueprintMenuText = {
  moreActionsFor: (title: string) => `More actions for ${title}`,
  duplicate: 'Duplicate',
  exportToFile: 'Export to file',
  unpublish: 'Unpublish',
} as const

/** Texts of pages/blueprints/blueprint-page.tsx. */
export const blueprintPageText = {
  share: 'Share',
} as const

/** Texts of pages/blueprints/blueprint-table.tsx. */
export const blueprintTableText = {
  v: (version: string) => `v${version}`,
  lastRun: 'Last run',
  rating: 'Rating',
  noRatings: 'no ratings',
  aFormerUser: 'a former user',
  by: (value: string) => `by ${value}`,
  showOnlyTag: (tag: string) => `Show only tag ${tag}`,
  more: (rest: number) => `${rest} more`,
  noTriggers: 'no triggers',
  activeTriggersPaused: (active: number, off: number) => `${count(active, 'active trigger')}, ${off} paused`,
  active: (active: number) => `${active} active`,
  paused: (off: number) => `, ${off} paused`,
  neverRan: 'never ran',
  notStarted: 'not started',
} as const

/** Texts of pages/blueprints/recent-runs.tsx. */
export const recentRunsText = {
  lastRuns: (runs: number, statuses: string, longest: string) =>
    `The last ${runs} runs: ${statuses}; the longest took ${longest}`,
  ofStatus: (runs: number, status: string) => `${runs} ${status}`,
} as const

/** Texts of pages/blueprints/blueprints-page.tsx. */
export const blueprintsPageText = {
  mine: 'Mine',
  shared: 'Shared',
  favourites: 'Favourites',
  import: 'Import',
  newBlueprint: 'New blueprint',
  blueprintScope: 'Blueprint scope',
  couldNotLoadTheBlueprints: 'Could not load the blueprints',
  pageNotFound: 'Page not found',
  theListHasPages: (pages: number) => `The list has ${count(pages, 'page')}.`,
  goToTheFirstPage: 'Go to the first page',
  noBlueprintsFound: 'No blueprints found',
  noBlueprintMatchesTheseFilters: 'No blueprint matches these filters.',
  clearFilters: 'Clear filters',
  blueprint: 'blueprint',
  pagesOfBlueprints: 'Blueprint list pages',
  nothingIsSharedWithYou: 'Nothing is shared with you',
  blueprintsOfYourOrganizations: 'Blueprints of your organizations and blueprints you can edit appear here.',
  noPublicBlueprintsOfOthers: 'No public blueprints by other users',
  publicBlueprintsCanBeViewedAnd:
    'Public blueprints can be viewed and run by everyone on this server. Managers publish them under Share.',
  noFavouritesYet: 'No favourites yet',
  selectTheHeartNextToA: 'Select the heart next to a blueprint to add it here.',
  createYourFirstBlueprint: 'Create your first blueprint',
  aBlueprintIsAGraphOf:
    'A blueprint is a graph of steps that call services, ask people and make decisions. Start it manually, on a schedule, or by webhook, mail or message.',
  importFile: 'Import file',
} as const

/** Texts of pages/blueprints/budget-section.tsx. */
export const budgetSectionText = {
  budgetRemoved: 'Budget removed',
  savedTheBudgetAppliesToNew: 'Saved. The budget applies to new runs.',
  runBudget: 'Run budget',
  maximumSpendingOfOneRunOn: 'Maximum spending of one run on AI models. Leave empty for no limit.',
  sumOverAllAiCalls: 'Sum over all AI calls',
  calls: 'Calls',
  callsToAiModels: 'Calls to AI models',
  whenTheBudgetIsUsedUp: 'When the budget is used up',
  failTheRun: 'Fail the run',
  pauseTheRunUntilAManager: 'Pause the run until a manager raises the budget',
  couldNotSaveTheBudget: 'Could not save the budget',
} as const

/** Texts of pages/blueprints/categories-section.tsx. */
export const categoriesSectionText = {
  deleteTheCategory: (title: string) => `Delete the category “${title}”?`,
  itIsRemovedFromAllBlueprints: (organization: string) =>
    `It is removed from all blueprints of ${organization}. The blueprints are kept.`,
  sharedByAllBlueprintsOf: (organization: string) => `Available to all blueprints of ${organization}`,
  couldNotLoadTheCategories: 'Could not load the categories',
  noCategoriesYet: 'No categories yet',
  deleteTheCategory2: (name: string) => `Delete the category ${name}`,
  newCategory: 'New category',
} as const

/** Texts of pages/blueprints/collaborators-section.tsx. */
export const collaboratorsSectionText = {
  anAdmin: 'an admin',
  anEditor: 'an editor',
  isNow: (value: string, word: string) => `${value} is now ${word}`,
  remove: (name: string) => `Remove ${name}?`,
  theyCanNoLongerEditThis:
    'They can no longer edit this blueprint. Triggers they created no longer start runs, because those runs act with their rights.',
  collaborators: 'Collaborators',
  editorsCanChangeTheBlueprint:
    'Editors can change the blueprint, its triggers and secrets, and see all its runs. Admins can also manage collaborators and visibility, and delete the blueprint.',
  couldNotLoadTheCollaborators: 'Could not load the collaborators',
  you: ' (you)',
  roleOf: (value: string) => `Role of ${value}`,
  remove2: (value: string) => `Remove ${value}`,
  noCollaboratorsYet: 'No collaborators yet',
  emailOfAnAccountOnThis: 'Email of an account on this server',
} as const

/** Texts of pages/blueprints/create.ts. */
export const createText = {
  trigger: (value: number, triggerType: string) => `Trigger ${value} (${triggerType})`,
  needsASigningSecretTheFile: (name: string) => `${name} needs a signing secret. The file contains none.`,
} as const

/** Texts of pages/blueprints/details-section.tsx. */
export const detailsSectionText = {
  noDescription: 'No description',
  purposeAudienceAnd: 'Purpose, audience and prerequisites',
  tags: 'Tags',
  pressEnterOrTypeAComma: 'Press Enter or type a comma to add a tag.',
  couldNotSaveTheDetails: 'Could not save the details',
} as const

/** Texts of pages/blueprints/favorite-button.tsx. */
export const favoriteButtonText = {
  removeFromFavourites: 'Remove from favourites',
  addToFavourites: 'Add to favourites',
  favourite: (title: string) => `Favourite: ${title}`,
} as const

/** Texts of pages/blueprints/file.ts. */
export const fileText = {
  thisPageReadsJsonFilesFrom:
    'This page reads JSON files from blueprintd export --json. Import YAML on the command line: blueprintd import FILE.',
  theFileIsLargerThan5: 'The file is larger than 5 MiB.',
  thisIsNotATextFile: 'This is not a text file. Choose a JSON file from blueprintd export --json.',
  lineColumn: (line: number, column: number) => `line ${line}, column ${column}`,
  aBlueprintFileMustBeAn: 'A blueprint file must be an object with title and blueprint_map.',
  mustBeANonEmptyString: 'must be a non-empty string',
  mustBeAnObjectWithNodes: 'must be an object with nodes',
  mustBeAListOfNodes: 'must be a list of nodes',
  mustBeAString: 'must be a string',
  mustBeAListOfStrings: 'must be a list of strings',
  mustBeAList: 'must be a list',
  unknownFieldIgnored: 'unknown field, ignored',
  mustBeAnObject: 'must be an object',
  mustBeTheNameOfA: 'must be the name of a trigger type',
  importedBlueprint: 'Imported blueprint',
} as const

/** Texts of pages/blueprints/import-card.tsx. */
export const importCardText = {
  imported: 'Imported',
  cannotBeImported: 'Cannot be imported',
  remove: (name: string) => `Remove ${name}`,
  theServerReportsProblems: 'The server found problems:',
  slackSigningSecret: 'Slack signing secret',
  webhookSecret: 'Webhook secret',
  trigger: (word: string, value: number) => `${word}, trigger ${value}`,
  withoutASecretThisTriggerIs: 'Without a secret, this trigger is not created.',
  withoutASecretAnyoneWhoKnows: 'Without a secret, anyone who knows the address can start it once it is active.',
  showOrHideTheValue: 'Show or hide the value',
  couldNotImport: 'Could not import',
  andMore: (value: number) => `and ${value} more`,
  nodes: (n: number) => count(n, 'node'),
  variables: (n: number) => count(n, 'variable'),
  triggers: (n: number) => count(n, 'trigger'),
} as const

/** Texts of pages/blueprints/import.tsx. */
export const importText = {
  blueprintsImported: (length: number) => `${count(length, 'blueprint')} imported`,
  dropBlueprintFilesOnThisPage: 'Drop blueprint files on this page, or',
  chooseFiles: 'Choose files',
  blueprintFiles: 'Blueprint files',
  jsonFromExportToFileFor: 'JSON from Export to file. For YAML, use the command line: blueprintd import FILE',
  pasteJson: 'Paste JSON',
  pastedText: 'Pasted text',
  read: 'Read',
  filesToImport: 'Files to import',
  createTriggers: 'Create triggers',
  filesContainNoSecretsEnterThem: ' Files contain no secrets. Enter them here or later.',
  newTriggersArePausedUntilYou: (word: string) => `New triggers are paused until you activate them.${word}`,
  importBlueprints: (length: number) => `Import ${count(length, 'blueprint')}`,
  import: 'Import',
  example: '{ "title": "Hello", "blueprint_map": { "nodes": [] } }',
} as const

/** Texts of pages/blueprints/list-filters.tsx. */
export const listFiltersText = {
  filterBlueprints: 'Filter blueprints',
  searchTitlesAndDescriptions: 'Search titles and descriptions',
  anyStatus: 'Any status',
  tag: 'Tag',
  anyTag: 'Any tag',
  category: 'Category',
  anyCategory: 'Any category',
  sort: 'Sort',
  recentlyUpdated: 'Recently updated',
  newest: 'Newest',
} as const

/** Texts of pages/blueprints/new-blueprint-page.tsx. */
export const newBlueprintPageText = {
  newBlueprint: 'New blueprint',
  empty: 'Empty',
  startWithAnEmptyCanvas: 'Start with an empty canvas.',
  fromAFile: 'From a file',
  importOrPasteABlueprintJson: 'Import or paste a .blueprint.json file.',
  blueprintCreatedWithTriggers: (triggers: number) =>
    `Blueprint created with ${count(triggers, 'trigger')}. Activate when ready.`,
  blueprintCreatedAddYourFirst: 'Blueprint created. Add your first node.',
  dailyReport: 'Daily report',
  whatItDoesAndWhoUses: 'What it does and who uses it',
  tags: 'Tags',
  usedToFindBlueprintsPressEnter: 'Used to find blueprints. Press Enter or type a comma to add a tag.',
  webhookTriggerWithANewSecret: 'webhook trigger with a new secret',
  schedule: 'schedule',
  includesAPausedUntilYou: (word: string) => `Includes a ${word}, paused until you activate it.`,
  couldNotCreateTheBlueprint: 'Could not create the blueprint',
  createAndOpenEditor: 'Create and open editor',
} as const

/** Texts of pages/blueprints/organization-select.tsx. */
export const organizationSelectText = {
  adminsOfAnOrganizationManage: 'Admins of an organization manage its blueprints. Members can run them.',
  personal: (name: string) => `${name} (personal)`,
} as const

/** Texts of pages/blueprints/rating-section.tsx. */
export const ratingSectionText = {
  rating: 'Rating',
  average: 'Average',
  noRatingsYet: 'No ratings yet',
  fromRatings: (average: number, ratings: number) => `${average} from ${count(ratings, 'rating')}`,
  yourRating: 'Your rating',
  removeRating: 'Remove rating',
  couldNotSaveTheRating: 'Could not save the rating',
} as const

/** Texts of pages/blueprints/share-tab.tsx. */
export const shareTabText = {
  about: 'About',
  createdBy: 'Created by',
  visibleTo: 'Visible to',
  everyoneOnThisServer: 'Everyone on this server',
  itsOrganizationAnd: 'Its organization and collaborators',
  deletesItsVersionsAndTriggers: 'Deletes its versions and triggers, and cancels its active runs.',
  deleteBlueprint: 'Delete blueprint',
} as const

/** Texts of pages/blueprints/start-cards.tsx. */
export const startCardsText = {
  startWith: 'Start with',
} as const

/** Texts of pages/blueprints/starters.tsx. */
export const startersText = {
  startWithAnExample: 'Start with an example',
} as const

/** Texts of pages/blueprints/status-section.tsx. */
export const statusSectionText = {
  unpublish: 'Unpublish',
  draftsCanBeRunAndTriggered:
    'Drafts can be run and triggered like published blueprints. Published blueprints are also available to AI assistants as MCP tools.',
} as const

/** Texts of pages/blueprints/templates.ts. */
export const templatesText = {
  answerAWebhook: 'Respond to a webhook',
  receivesARequestFromAnother: 'Receives a request from another service, reads a value and responds with JSON.',
  readTheName: 'Read the name',
  respond: 'Respond',
  monitorAWebsite: 'Monitor a website',
  requestsAUrlEvery15Minutes: 'Requests a URL every 15 minutes and posts to Slack if it fails.',
  requestThePage: 'Request the page',
  isItUp: 'Is it up?',
  postToSlack: 'Post to Slack',
  httpsExampleComIsDownStatus: 'https://example.com/ is down: status {{input.status ?? "none"}}.',
  formWithApproval: 'Form with approval',
  collectsDetailsInAFormAsks: 'Collects details in a form, asks for approval and continues with the decision.',
  requestAPurchase: 'Request a purchase',
  whatDoYouWantToBuy: 'What do you want to buy, and for how much?',
  item: 'Item',
  amountInEuros: 'Amount in euros',
  reason: 'Reason',
  askForApproval: 'Ask for approval',
  buyNodesFormOutputItemFor: 'Buy {{nodes.form.output.item}} for {{nodes.form.output.amount}} euros?',
  approved: 'Approved',
  rejected: 'Rejected',
} as const

/** Texts of pages/blueprints/title-editor.tsx. */
export const titleEditorText = {
  enterATitle: 'Enter a title.',
} as const

/** Texts of pages/blueprints/use-actions.tsx. */
export const actionsText = {
  copyOf: (title: string) => `Copy of ${title}`,
  createdAsADraftTriggersAre: (title: string) => `“${title}” created as a draft. Triggers are not copied.`,
  published: (title: string) => `“${title}” published`,
  unpublished: (title: string) => `“${title}” unpublished`,
  deleted: (title: string) => `“${title}” deleted`,
  delete: (word: string) => `Delete “${word}”?`,
  thisAlsoDeletesItsVersionsAnd:
    'This also deletes its versions and triggers, and cancels its active runs. Finished runs stay visible to the users who started them. This cannot be undone.',
  deleteBlueprint: 'Delete blueprint',
} as const

/** Texts of pages/blueprints/use-names.ts. */
export const namesText = {
  formerUser: 'Former user',
} as const

/** Texts of pages/blueprints/version-list.tsx. */
export const versionListText = {
  versionsNewestFirst: 'Versions, newest first',
  to: (until: string) => `to ${until}`,
  current: 'Current',
  showOlderVersions: 'Show older versions',
} as const

/** Texts of pages/blueprints/versions-tab.tsx. */
export const versionsTabText = {
  versionsAreHidden: 'Versions are hidden',
  onlyPeopleWhoManageThis:
    'Only managers of this blueprint can see its versions. Ask one of them to add you as a collaborator.',
  couldNotLoadTheVersions: 'Could not load the versions',
  alreadyTheSameAs: (version: string) => `Already the same as ${version}`,
  versionIsTheSameAs: (version: string, version2: string) => `Version ${version} is the same as ${version2}`,
  restoreVersion: (version: string) => `Restore version ${version}?`,
  thisCreatesANewVersionWith:
    'This creates a new version with the nodes, edges and variables of the selected version. Secrets keep their current values. Existing versions are kept, and active runs continue with theirs.',
  restore: (version: string) => `Restore ${version}`,
  comparison: 'Comparison',
  allVersions: 'All versions',
  from: 'From',
  to: 'To',
  current: (version: string) => `${version} (current)`,
  fromTo: (version: string, version2: string) => `From ${version} to ${version2}`,
  versionFirst: (version: string) => `Version ${version} (first)`,
  nothing: 'nothing',
} as const

/** Texts of pages/blueprints/visibility-section.tsx. */
export const visibilitySectionText = {
  makeThisBlueprintPublic: 'Make this blueprint public?',
  everyoneOnThisServerCanFind:
    'Everyone on this server can find, view, run and rate it. They cannot use its secrets and connections, so steps that need them fail. You can make it private again.',
  makePublic: 'Make public',
  theBlueprintIsNowPublic: 'The blueprint is now public',
  theBlueprintIsNowPrivate: 'The blueprint is now private',
  onlyItsCreatorAdminsOfIts: 'Only its creator, admins of its organization and admin collaborators can change this.',
  visibility: 'Visibility',
  membersOfItsOrganizationAnd: 'Members of its organization and collaborators can view, run and edit it.',
  everyoneOnThisServerCanAlso:
    'Everyone on this server can also view and run it. They see only their own runs and none of its secrets.',
  couldNotChangeTheVisibility: 'Could not change the visibility',
} as const

/** Texts of pages/blueprints/draft-banner.tsx. */
export const draftBannerText = {
  draft: 'Draft by an agent',
  proposed: 'Proposed by an agent',
  nothingStartsIt: 'Nothing starts a draft.',
  reviewChanges: 'Review changes',
  publish: 'Publish',
} as const

/** Texts of pages/blueprints/use-apply.ts. */
export const applyText = {
  applyThisDraft: 'Apply this draft?',
  publishThisDraft: 'Publish this draft?',
  itBecomesTheNewVersion:
    'Its nodes, edges, variables and title become a new version of the blueprint, which triggers and new runs use at once. You become the author of that version. Secrets keep their current values, and the draft is deleted.',
  itBecomesABlueprint: 'It becomes a published blueprint. Add triggers to start it.',
  apply: 'Apply',
  publish: 'Publish',
  applied: (title: string, version: string) => `Version ${version} of "${title}" is live`,
} as const

/** Texts of pages/blueprints/proposals.tsx. */
export const proposalsText = {
  changeProposedBy: (name: string) => `Change proposed by an agent of ${name}`,
  reviewChanges: 'Review changes',
  proposedChanges: 'Proposed changes',
  couldNotLoadTheDraft: 'Could not load the draft',
  madeFrom: (from: string, now: string) =>
    `This draft was made from version ${from}. The blueprint is at version ${now} now, so the draft cannot be applied. Have the change made again from the current version.`,
  apply: 'Apply',
  discard: 'Discard',
  discardThisDraft: 'Discard this draft?',
  itIsDeletedTheBlueprint: 'The draft is deleted. The blueprint stays as it is.',
  discarded: 'The draft is deleted',
  allVersions: 'All versions',
  theDraft: 'draft',
  fromToTheDraft: (version: string) => `From ${version} to the draft`,
} as const
