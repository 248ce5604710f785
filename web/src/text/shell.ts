/** Texts of shell/account-menu.tsx. */
export const accountMenuText = {
  accountOf: (initials: string, name: string) => `${initials}, account of ${name}`,
  profile: 'Profile',
  apiKeys: 'API keys',
  signOut: 'Sign out',
} as const

/** Texts of shell/away-banner.tsx. */
export const awayBannerText = {
  cannotReachTheServerRetrying: 'Cannot reach the server. Retrying automatically.',
  tryNow: 'Try now',
} as const

/** Texts of shell/command-palette.tsx. */
export const commandPaletteText = {
  goTo: 'Go to…',
  pageBlueprintTriggerConnectionOrRun: 'Page, blueprint, trigger, connection or run ID',
  results: 'Results',
  nothingFound: 'Nothing found.',
  choose: 'choose',
  open: 'open',
  newBlueprint: 'New blueprint',
  newTrigger: 'New trigger',
  newConnection: 'New connection',
  waitingRuns: 'Waiting runs',
  failedRuns: 'Failed runs',
  documentation: 'Documentation',
  triggerOf: (type: string) => `Trigger, ${type}`,
} as const

/** Texts of shell/error-boundary.tsx. */
export const errorBoundaryText = {
  thisPageFailed: 'This page failed',
  theDashboardHasABugYour: 'The dashboard has a bug. Your saved data is safe. Try reloading.',
  goToTheStartPage: 'Go to the start page',
} as const

/** Texts of shell/header.tsx. */
export const headerText = {
  blueprintdGoToBlueprints: 'blueprintd, go to blueprints',
  blueprintd: 'blueprintd',
} as const

/** Texts of shell/missing-part.tsx. */
export const missingPartText = {
  theDashboardWasUpdated: 'The dashboard was updated',
  cannotReachTheServer: 'Cannot reach the server',
  theServerHasANewerVersion: 'The server has a newer version of this dashboard. Reload to continue.',
  thisPageIsNotLoadedYet:
    'This page is not loaded yet. It opens automatically when the server is back. Your saved data is safe.',
  tryNow: 'Try now',
  goToTheStartPage: 'Go to the start page',
} as const

/** Texts of shell/not-found.tsx. */
export const notFoundText = {
  pageNotFound: 'Page not found',
  noPageHasThisAddress: 'No page has this address',
  itMayBeMistypedOr: 'It may be mistyped, or the page was deleted.',
  goToBlueprints: 'Go to blueprints',
} as const

/** Texts of shell/organization-menu.tsx. */
export const organizationMenuText = {
  allOrganizations: 'All organizations',
  organization: (name: string) => `Organization: ${name}`,
  showOnly: 'Show only',
} as const

/** Texts of shell/scheme-toggle.tsx. */
export const schemeToggleText = {
  light: 'Light',
  dark: 'Dark',
  system: 'System',
  colourScheme: (title: string) => `Colour scheme: ${title}`,
} as const

/** Texts of shell/section-links.tsx. */
export const sectionLinksText = {
  main: 'Main',
  waitingForInput: (waiting: number) => `${waiting} waiting for input`,
  waitingForInput2: 'waiting for input',
} as const

/** Texts of shell/server-notes.tsx. */
export const serverNotesText = {
  thisServerIsASandbox: 'This server is a sandbox',
  runsSendMailMessagesRequests:
    'Runs send mail, messages, requests, model calls and tool calls to fakes inside the server. No real service is called. Responses are fake.',
  seeWhatWasSent: 'See what was sent',
  theKeyIsOneOfYour: 'The key is one of your API keys (see Settings). The server was started with',
  serveSandbox: 'serve --sandbox',
  theServerClockIsVirtual: 'The server clock is virtual',
  itShows: 'It shows',
  untilYouAdvanceItSchedules:
    'until you advance it. Schedules, waits and deadlines follow this clock. Relative times such as “3 minutes ago” count from it.',
  advanceTheClockByOneHour: 'Advance the clock by one hour',
} as const

/** Texts of shell/shell.tsx. */
export const shellText = {
  skipToContent: 'Skip to content',
} as const

/** Texts of shell/special-badges.tsx. */
export const specialBadgesText = {
  sandbox: 'Sandbox',
  noRealServices: ': no real services',
  virtualClock: (time: string) => `Virtual clock: ${time}`,
} as const

/** Texts of routes.ts. */
export const routesText = {
  profile: 'Profile',
  apiKeys: 'API keys',
  organizations: 'Organizations',
  grants: 'Grants',
  mcpTools: 'MCP tools',
  auditLog: 'Audit log',
  limits: 'Limits',
  status: 'Status',
  serverStatus: 'Server status',
} as const
