import { count } from './count'

/** Texts of parts/confirm.tsx. */
export const confirmText = {
  toConfirm: 'to confirm',
} as const

/** Texts of parts/copy-field.tsx. */
export const copyFieldText = {
  hidden: 'hidden',
  hide: (lower: string) => `Hide ${lower}`,
  show: (lower: string) => `Show ${lower}`,
  copy: (lower: string) => `Copy ${lower}`,
} as const

/** Texts of parts/doc-link.tsx. */
export const docLinkText = {
  documentation: 'Documentation',
} as const

/** Texts of parts/error-note.tsx. */
export const errorNoteText = {
  fieldsNeedAChange: (length: number) => `${count(length, 'field')} need a change:`,
} as const

/** Texts of parts/json-check.ts. */
export const jsonCheckText = {
  unexpectedTextAfterTheValue: 'unexpected text after the value',
  tooManyNestedLevels: 'too many nested levels',
  missingValueAtTheEnd: 'missing value at the end',
  textMustBeInDoubleQuotes: 'text must be in double quotes',
  isNotAValueTextMust: (word: string) => `"${word}" is not a value; text must be in double quotes`,
  unexpected: (char: string) => `unexpected "${char}"`,
  invalidNumber: 'invalid number',
  missing: 'missing }',
  expectedAKeyInDoubleQuotes: 'expected a key in double quotes',
  expectedAfterTheKey: 'expected : after the key',
  missing2: (end: string) => `missing ${end}`,
  expectedOr: (end: string) => `expected , or ${end}`,
  trailingComma: 'trailing comma',
  missingClosingQuote: 'missing closing quote',
  escapeControlCharacters: 'escape line breaks and control characters as \\n or \\u000a',
  unknownEscapeSequence: 'unknown escape sequence',
} as const

/** Texts of parts/json-input.tsx. */
export const jsonInputText = {
  lineColumn: (line: number, column: number, message: string) => `Line ${line}, column ${column}: ${message}`,
  format: 'Format',
} as const

/** Texts of parts/json-node.tsx. */
export const jsonNodeText = {
  showMoreLeft: (value: string) => `Show more (${value} left)`,
  truncatedInTotal: (bytes: string) => `truncated, ${bytes} in total`,
} as const

/** Texts of parts/json-tree.ts. */
export const jsonTreeText = {
  none: 'none',
  items: (n: number) => count(n, 'item'),
  keys: (n: number) => count(n, 'key'),
} as const

/** Texts of parts/json-view.tsx. */
export const jsonViewText = {
  value: (label: string) => `${label}, value`,
} as const

/** Texts of parts/page-header.tsx. */
export const pageHeaderText = {
  blueprintd: (value: string) => `${value} · blueprintd`,
  breadcrumbs: 'Breadcrumbs',
} as const

/** Texts of parts/pager.tsx. */
export const pagerText = {
  pages: 'Pages',
  firstPage: 'First page',
  previousPage: 'Previous page',
  nextPage: 'Next page',
  lastPage: 'Last page',
  pageOf: (page: number, pages: number) => `Page ${page} of ${pages}`,
} as const

/** Texts of parts/quantity.tsx. */
export const quantityText = {
  ms: (ms: string) => `${ms} ms`,
  bytes: (value: string) => `${value} bytes`,
} as const

/** Texts of parts/safe-link.tsx. */
export const safeLinkText = {
  opensInANewTab: '(opens in a new tab)',
} as const

/** Texts of parts/filter-bar.tsx. */
export const filterBarText = {
  filters: (set: number) => (set > 0 ? `Filters (${set})` : 'Filters'),
} as const

/** Texts of parts/search-field.tsx. */
export const searchFieldText = {
  clearSearch: 'Clear search',
} as const

/** Texts of parts/stars.tsx. */
export const starsText = {
  rating: 'Rating',
  noRatingsYet: 'No ratings yet',
  of5Stars: (average: number, ratings?: number) =>
    `${average} of 5 stars${ratings === undefined ? '' : `, ${count(ratings, 'rating')}`}`,
  noRating: 'No rating',
  of5Stars2: (star: number) => `${star} of 5 stars`,
} as const

/** Texts of parts/status-badge.tsx. */
export const statusBadgeText = {
  pending: 'Pending',
  running: 'Running',
  waiting: 'Waiting',
  completed: 'Completed',
  failed: 'Failed',
  cancelled: 'Cancelled',
  skipped: 'Skipped',
  duplicate: 'Duplicate',
  refused: 'Refused',
  coalesced: 'Coalesced',
} as const

/** Texts of parts/time-spans.ts. */
export const timeSpansText = {
  anyTime: 'Any time',
  lastHour: 'Last hour',
  last24Hours: 'Last 24 hours',
  last7Days: 'Last 7 days',
  last30Days: 'Last 30 days',
} as const

/** Texts of parts/time-words.ts. */
export const timeWordsText = {
  inAMoment: 'in a moment',
  justNow: 'just now',
} as const

/** Texts of parts/unopened.tsx. */
export const unopenedText = {
  theAddressMayBeMistyped: 'It was deleted, you have no access, or the address is wrong.',
} as const
