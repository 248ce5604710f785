import { count } from './count'

/** Texts of pages/connections/callback.tsx. */
export const callbackText = {
  callbackUrl: 'Callback URL',
  registerThisRedirectUriWithThe:
    'Register this redirect URI with the service. It starts with the address of this server (',
  publicUrl: '--public-url',
} as const

/** Texts of pages/connections/config-fields.tsx. */
export const configFieldsText = {
  required: 'Required.',
  enterItAgain: (value: string | undefined) => `Enter it again: ${value}.`,
  it: (message: string) => `It ${message}.`,
} as const

/** Texts of pages/connections/connection-form.tsx. */
export const connectionFormText = {
  saved: (name: string) => `“${name}” saved`,
  leaveWithoutSaving: 'Leave without saving?',
  yourChangesWillBeLost: 'Your changes will be lost.',
  leave: 'Leave',
  youCanUseThisConnectionIts:
    'You can use this connection. Its creator and the admins of its organization can change it.',
  theConnectionHasChanged: 'The connection has changed',
  savingSendsOnlyYourChanges: 'Saving sends only your changes.',
  loadTheNewerVersion: 'Load the newer version',
  couldNotSaveTheConnection: 'Could not save the connection',
  saveChanges: 'Save changes',
} as const

/** Texts of pages/connections/connection-page.tsx. */
export const connectionPageText = {
  connectionNotFound: 'Connection not found',
  allConnections: 'All connections',
} as const

/** Texts of pages/connections/connection-side.tsx. */
export const connectionSideText = {
  signInAndTest: 'Sign in and test',
  usedBy: 'Used by',
  about: 'About',
  availableTo: 'Available to',
  createdBy: 'Created by',
  anotherMember: 'Another member',
  id: 'ID',
  everyUserSignsInSeparatelyA:
    'Every user signs in separately. A run uses the sign-in of the user it acts for, and asks for one if it is missing.',
  signIn: 'Sign in',
  checkSignIn: 'Check sign-in',
  testConnection: 'Test connection',
  yourBrowserOpenedNoTab: 'Your browser did not open a tab:',
  openTheSignInPage: 'open the sign-in page',
  finishSigningInInTheOther: 'Finish signing in in the other tab. It is checked when you return.',
  asksTheServiceWhetherYourSign: 'Checks with the service that your sign-in is still valid.',
  makesTheCheapestRealCallWith: 'Makes one inexpensive call with the saved settings and shows the result.',
  noBlueprintThatYouCanSee: 'No blueprint you can see uses it.',
  andMore: (value: number) => `and ${value} more`,
  checkedOnlyTheNewest400: 'Only the newest 400 blueprints were checked.',
} as const

/** Texts of pages/connections/connections-page.tsx. */
export const connectionsPageText = {
  newConnection: 'New connection',
  availableTo: 'Available to',
  usedBy: 'Used by',
  searchConnections: 'Search connections',
  allTypes: 'All types',
  noConnectionsFound: 'No connections found',
  noConnectionMatchesThisNameAnd: 'No connection matches this name and type.',
  thisOrganizationHasNo: 'This organization has no connections.',
  clearSearch: 'Clear search',
  noConnectionsYet: 'No connections yet',
  aConnectionHoldsTheAddressAnd:
    'A connection holds the address and credentials of a service: a language model, a mail server, Slack or any HTTP API. Nodes refer to it by name, so blueprints contain no secrets. They are stored encrypted.',
  couldNotLoadTheBlueprints: 'Could not load the blueprints',
  unknown: 'Unknown',
  nothingYet: 'Nothing yet',
  nothingFound: 'Nothing found',
  blueprints: (n: number) => count(n, 'blueprint'),
  things: (n: number) => count(n, 'place'),
} as const

/** Texts of pages/connections/delete-connection.tsx. */
export const deleteConnectionText = {
  deleted: (name: string) => `“${name}” deleted`,
  andOthers: ' and others',
  itIsUsedInPlacesThose: (length: number, value: string, word: string) =>
    ` It is used in ${count(length, 'place')}: ${value}${word}. Those runs will fail.`,
  delete: (name: string) => `Delete “${name}”?`,
  thisRemovesItsCredentialsAnd: (used: string) =>
    `This removes its credentials and all sign-ins. This cannot be undone.${used}`,
} as const

/** Texts of pages/connections/new-connection.tsx. */
export const newConnectionText = {
  newConnection: 'New connection',
  chooseAServiceType: 'Choose a service type.',
  newConnection2: (title: string) => `New connection: ${title}`,
  new: 'New',
  unknownConnectionType: 'Unknown connection type',
  chooseAType: 'Choose a type',
  saved: (name: string) => `“${name}” saved`,
  couldNotSaveTheConnection: 'Could not save the connection',
  nodesReferToTheConnectionBy: 'Nodes refer to the connection by this name.',
  availableTo: 'Available to',
  onlyYou: 'Only you',
  everyoneIn: (name: string) => `Everyone in ${name}`,
  connectionsOfAnOrganizationAre: 'Connections of an organization are available to its members.',
  youCannotChangeThisLater: 'You cannot change this later.',
  saveConnection: 'Save connection',
  changeType: 'Change type',
} as const

/** Texts of pages/connections/owner.ts. */
export const ownerText = {
  onlyYou: 'Only you',
  anOrganization: 'An organization',
} as const

/** Texts of pages/connections/test-result.tsx. */
export const testResultText = {
  connectionWorks: 'Connection works',
  notSignedIn: 'Not signed in',
  connectionFailed: 'Connection failed',
} as const

/** Texts of pages/connections/type-chooser.tsx. */
export const typeChooserText = {
  connectionTypes: 'Connection types',
} as const

/** Texts of pages/connections/types.tsx. */
export const typesText = {
  usersSignIn: 'Users sign in',
  thisServerSignsIn: 'This server signs in',
  starttls: 'STARTTLS',
  tlsFromTheStart: 'TLS from the start',
  noneNotEncrypted: 'None (not encrypted)',
} as const

/** Texts of pages/connections/uses.ts. */
export const usesText = {
  triggerOf: (blueprint_title: string) => `Trigger of ${blueprint_title}`,
} as const
