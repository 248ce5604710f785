import { count } from './count'

/** Texts of forms/any-field.tsx. */
export const anyFieldText = {
  typeOf: (label: string) => `Type of ${label}`,
  null: 'null',
  notAppliedNotANumber: 'Not applied: not a number',
  notAppliedInvalidJsonLine: (line: number, column: number, message: string) =>
    `Not applied: invalid JSON (line ${line}, column ${column}: ${message})`,
  notAppliedAJsonValueIs: 'Not applied: a JSON value is required',
} as const

/** Texts of forms/any-kind.ts. */
export const anyKindText = {
  yesOrNo: 'Yes or no',
  null: 'Null',
} as const

/** Texts of forms/blueprint-field.tsx. */
export const blueprintFieldText = {
  unknownBlueprintOrOneThatYou: 'Unknown blueprint, or one you cannot see.',
  couldNotLoadTheBlueprints: ' Could not load the blueprints.',
  chooseABlueprint: 'Choose a blueprint',
  noBlueprintsFound: 'No blueprints found',
} as const

/** Texts of forms/check-value.ts. */
export const checkValueText = {
  required: 'Required.',
  mustBeText: 'Must be text.',
  mustBeANumber: 'Must be a number.',
  mustBeYesOrNo: 'Must be yes or no.',
  mustBeOneOfTheChoices: 'Must be one of the choices.',
  mustBeAList: 'Must be a list.',
  mustBeAnObject: 'Must be an object.',
  mustBeAnEmailAddress: 'Must be an email address.',
  mustBeAUrlForExample: 'Must be a URL, for example https://example.com.',
  mustBeAWholeNumber: 'Must be a whole number.',
  mustBeAtLeast: (oneLine: string) => `Must be at least ${oneLine}.`,
  mustBeAtMost: (oneLine: string) => `Must be at most ${oneLine}.`,
  mustBeGreaterThan: (oneLine: string) => `Must be greater than ${oneLine}.`,
  mustBeLessThan: (oneLine: string) => `Must be less than ${oneLine}.`,
  mustNotBeEmpty: 'Must not be empty.',
  mustHaveAtLeast: (value: string) => `Must have at least ${value}.`,
  mustHaveAtMost: (value: string) => `Must have at most ${value}.`,
} as const

/** Texts of forms/choice-field.tsx. */
export const choiceFieldText = {
  default: (label: string) => `${label} (default)`,
  notAValidChoice: (oneLine: string) => `${oneLine} (not a valid choice)`,
} as const

/** Texts of forms/code-box.tsx. */
export const codeBoxText = {
  pressEscThenTabToLeave: 'Press Esc, then Tab to leave the editor.',
  format: 'Format',
} as const

/** Texts of forms/code-field.tsx. */
export const codeFieldText = {
  lineInTheLastRun: (line: number, message: string) => `Line ${line} in the last run: ${message}`,
  returnInput: 'return input',
} as const

/** Texts of forms/connection-field.tsx. */
export const connectionFieldText = {
  chooseAConnection: 'Choose a connection',
  noConnectionsOfThisType: 'No connections of this type',
  chooseConnections: 'Choose connections',
  couldNotLoadTheConnections: 'Could not load the connections.',
  youHaveNoConnection: 'You have no connection',
  ofType: (types: string) => ` of type ${types}`,
  yet: 'yet.',
  createConnectionOpensInANew: 'Create connection (opens in a new tab)',
  doesNotExistOrYouCannot: (one: string) => `${one} does not exist, or you cannot use it.`,
} as const

/** Texts of forms/duration-field.tsx. */
export const durationFieldText = {
  notAppliedNotADuration: 'Not applied: not a duration',
  unit: (label: string) => `${label}, unit`,
} as const

/** Texts of forms/field-view.tsx. */
export const fieldViewText = {
  useAFixedValue: 'Use a fixed value',
  useATemplate: 'Use a template',
  template: (label: string) => `${label}: template`,
  clear: (label: string) => `Clear ${label}`,
  setTo: (stringify: string) => `Set to ${stringify}`,
} as const

/** Texts of forms/frame.tsx. */
export const frameText = {
  warning: 'Warning: ',
  error: 'Error: ',
} as const

/** What the functions of expressions return, by their names. */
export const callText = {
  len: 'Number of items, keys or characters',
  filter: 'Items for which the condition is true: filter(input.orders, .total > 10)',
  map: 'Result of the expression for each item: map(input.orders, .id)',
  find: 'First item for which the condition is true',
  findIndex: 'Position of the first such item',
  findLast: 'Last item for which the condition is true',
  findLastIndex: 'Position of the last such item',
  all: 'Whether the condition is true for all items',
  any: 'Whether it is true for at least one item',
  none: 'Whether it is true for no item',
  one: 'Whether it is true for exactly one item',
  count: 'Number of items for which the condition is true',
  sum: 'Sum of the items, or of the expression for each item',
  groupBy: 'Object with the items grouped by the expression',
  sortBy: 'Items sorted by the expression; "desc" as third argument reverses the order',
  sort: 'Sorted items; "desc" as second argument reverses the order',
  first: 'First item',
  last: 'Last item',
  take: 'First n items',
  reverse: 'Items in reverse order',
  uniq: 'Items without duplicates',
  concat: 'Lists joined one after another',
  flatten: 'Items of nested lists as one list',
  join: 'Items as one text, with a separator',
  keys: 'Sorted keys',
  values: 'Values in the order of their keys',
  get: 'Item or field, nil if missing',
  toPairs: 'List of [key, value]',
  fromPairs: 'Object from a list of [key, value]',
  upper: 'Converts to upper case',
  lower: 'Converts to lower case',
  trim: 'Removes whitespace at both ends',
  trimPrefix: 'Removes the prefix',
  trimSuffix: 'Removes the suffix',
  split: 'Parts between the separators',
  splitAfter: 'Parts that include their separators',
  replace: 'Replaces every old with new',
  repeat: 'Repeats the text n times',
  indexOf: 'Position of the first match, -1 if there is none',
  lastIndexOf: 'Position of the last match, -1 if there is none',
  hasPrefix: 'Whether the text starts with the prefix',
  hasSuffix: 'Whether the text ends with the suffix',
  toBase64: 'Encodes text as base64',
  fromBase64: 'Decodes base64 text',
  toJSON: 'Encodes a value as JSON text',
  fromJSON: 'Parses JSON text',
  string: 'Converts to text',
  int: 'Converts to a whole number',
  float: 'Converts to a number',
  type: 'Name of the type of the value',
  abs: 'Absolute value',
  ceil: 'Rounds up',
  floor: 'Rounds down',
  round: 'Rounds to the nearest whole number',
  max: 'Largest number',
  min: 'Smallest number',
  mean: 'Average',
  median: 'Median',
  bitand: 'Bitwise AND',
  bitor: 'Bitwise OR',
  bitxor: 'Bitwise XOR',
  bitnand: 'Bitwise AND NOT',
  bitnot: 'Bitwise NOT',
  bitshl: 'Shifts bits left',
  bitshr: 'Shifts bits right, keeping the sign',
  bitushr: 'Shifts bits right without the sign',
} as const

/** Texts of forms/functions.ts. */
export const functionsText = {
  bothAreTrueAlso: 'Both are true. Also &&',
  atLeastOneIsTrueAlso: 'At least one is true. Also ||',
  isNotTrueAlso: 'Is not true. Also !',
  isAnItemOfTheList: 'Is an item of the list or a key of the object',
  theTextContainsAnotherText: 'The text contains another text',
  theTextStartsWithAnotherText: 'The text starts with another text',
  theTextEndsWithAnotherText: 'The text ends with another text',
  theTextMatchesARegular: 'The text matches a regular expression',
  true: 'True',
  false: 'False',
  noValueAlsoNull: 'No value. Also null',
} as const

/** Texts of forms/list-field.tsx. */
export const listFieldText = {
  moveUp: (what: string) => `Move ${what} up`,
  moveDown: (what: string) => `Move ${what} down`,
  remove: (what: string) => `Remove ${what}`,
  empty: 'Empty',
  add: (one: string) => `Add ${one}`,
} as const

/** Texts of forms/map-field.tsx. */
export const mapFieldText = {
  key: (label: string, value: number) => `${label}, key ${value}`,
  valueOf: (key: string) => `Value of ${key}`,
  remove: (key: string) => `Remove ${key}`,
  newKey: (label: string) => `${label}, new key`,
  typeAKeyAndPressEnter: 'Type a key and press Enter',
  removeThisRow: 'Remove this row',
  empty: 'Empty',
  addKey: 'Add key',
  notAppliedDuplicateKey: 'Not applied: duplicate key',
  key2: 'Key',
} as const

/** Texts of forms/marks.ts. */
export const marksText = {
  hasNoClosing: '"{{=" has no closing "}}".',
  after: (toUpperCase: string, value: string, value2: string) => `${toUpperCase}${value} after "${value2}".`,
  expectedAJsonValueAfterFor: 'Expected a JSON value after "??", for example "text", 0 or null.',
  missing: 'Missing "}}".',
  expectedBefore: (text: string) => `Expected "}}" before "${text}".`,
  unknownName: (value: string | number | undefined) => `Unknown name "${value}".`,
  hasNoField: (writePath: string, value: string | number | undefined) => `"${writePath}" has no field "${value}".`,
} as const

/** Texts of forms/names.ts. */
export const namesText = {
  n1Item: '1 item',
  items: (length: number) => `${count(length, 'item')}`,
} as const

/** Texts of forms/number-field.tsx. */
export const numberFieldText = {
  notAppliedNotANumber: 'Not applied: not a number',
  fromTo: (oneLine: string, oneLine2: string) => `From ${oneLine} to ${oneLine2}.`,
  atLeast: (oneLine: string) => `At least ${oneLine}.`,
  atMost: (oneLine: string) => `At most ${oneLine}.`,
} as const

/** Texts of forms/object-field.tsx. */
export const objectFieldText = {
  otherValues: 'Other values',
  fieldsThatThisFormDoesNot: 'Fields unknown to this form. They are kept.',
  remove: (key: string) => `Remove ${key}`,
  set: (value: string) => `Set ${value}`,
} as const

/** Texts of forms/path.ts. */
export const pathText = {
  expectedAName: 'expected a name',
  expectedAKeyWriteKeysWith: 'expected a key; write keys with characters other than letters, digits and _ as ["key"]',
  expectedAWholeNumberOrA: 'expected a whole number or a key in double quotes and "]"',
} as const

/** Texts of forms/schema-form.tsx. */
export const schemaFormText = {
  value: 'Value',
} as const

/** Texts of forms/secret-input.tsx. */
export const secretInputText = {
  set: 'Set',
  setTypeToReplace: 'Set; type to replace',
  showOrHideTheValue: 'Show or hide the value',
} as const

/** Texts of forms/suggested-field.tsx. */
export const suggestedFieldText = {
  default: (oneLine: string) => `${oneLine} (default)`,
  other: 'Other…',
} as const

/** Texts of forms/preview-line.tsx. */
export const previewText = {
  lastRun: 'Last run:',
  value: 'Value:',
  missing: (name: string) => `No value: ${name} has no data in this run`,
  secret: (name: string) => `Not shown: ${name} is a secret variable`,
  tooLarge: 'Not evaluated: its data is larger than 1 MiB',
  omitted: 'The value is too large to show',
  masked: 'Computed with *** in place of masked values',
  at: (line: number | undefined, column: number) =>
    line === undefined ? ` at column ${column}` : ` at line ${line}, column ${column}`,
  fails: (where: string, message: string) => `fails${where}: ${message}`,
  notBoolean: (message: string) => `The node fails with this value: ${message}`,
} as const

/** Texts of forms/suggestions.tsx. */
export const suggestionsText = {
  suggestions: 'Suggestions',
  selectEnterInsertEscClose: '↑↓ select · Enter insert · Esc close',
} as const

/** Texts of forms/template-field.tsx. */
export const templateFieldText = {
  invalidPlaceholder: 'Invalid placeholder.',
  emptyText: 'Empty text',
} as const

/** Texts of forms/template-input.tsx. */
export const templateInputText = {
  suggestion: 'suggestion',
  suggestions: 'suggestions',
} as const

/** Texts of forms/text-field.tsx. */
export const textFieldText = {
  emptyText: 'Empty text',
  inYourLocalTime: 'In your local time',
} as const

/** Texts of forms/unwrap.ts. */
export const unwrapText = {
  expression: 'Expression',
  yesOrNo: 'Yes or no',
  list: 'List',
  object: 'Object',
  option: (value: number) => `Option ${value}`,
} as const
