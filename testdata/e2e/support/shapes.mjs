// The records of the API, field by field with their types, so that a lost, renamed or retyped
// field shows wherever a record is read.
import assert from 'node:assert/strict';

const is = {
  string: (value) => typeof value === 'string',
  number: (value) => typeof value === 'number',
  boolean: (value) => typeof value === 'boolean',
  array: Array.isArray,
  object: (value) => typeof value === 'object' && value !== null && !Array.isArray(value),
  any: () => true,
  null: (value) => value === null,
  absent: (value) => value === undefined,
  count: (value) => Number.isInteger(value) && value >= 0,
  percent: (value) => Number.isInteger(value) && value >= 0 && value <= 100,
  time: (value) => is.string(value) && /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$/.test(value),
  uuid: (value) => is.string(value) && /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(value),
  ulid: (value) => is.string(value) && /^[0-9A-HJKMNP-TV-Z]{26}$/i.test(value),
  execution: (value) => is.string(value) && /^exec_\d{13}_[0-9a-z]{26}$/.test(value),
  version: (value) => is.string(value) && /^\d+\.\d+\.\d+$/.test(value),
  strings: (value) => is.array(value) && value.every(is.string),
};

const table = (text) => Object.fromEntries(text.trim().split('\n').map((line) => {
  const [name, types] = line.trim().split(/\s+/);
  return [name, types.split('|')];
}));

const blueprint = table(`
  id                    uuid
  title                 string
  description           string
  status                draft|published
  visibility            private|public
  version               version
  tags                  strings
  created_by            uuid
  organization_id       uuid
  created_at            time
  updated_at            time
  environment_variables array
  blueprint_map         object|null
  average_rating        number
  rating_count          count
  user_rating           number|absent
  budget                object|null|absent
`);

const step = table(`
  nodeId     string
  nodeType   string
  title      string
  status     pending|running|completed|failed|skipped|paused
  startTime  time|null
  endTime    time|null
  durationMs number|null
  attempt    count
  input      any
  output     any
  error      object|absent
  tokensUsed number|absent
`);

const logEntry = table(`
  timestamp time
  level     string
  nodeId    string|null
  message   string
  data      any
`);

const tables = {
  blueprint,
  blueprintDetail: {
    ...blueprint,
    ...table(`
      can_manage    boolean
      is_owner      boolean
      is_favorited  boolean
      categories    array
      organizations array
    `),
  },
  organization: table(`
    id   uuid
    name string
    slug string
  `),
  pagination: table(`
    page       count
    limit      count
    total      count
    totalPages count
  `),
  trigger: table(`
    id           uuid
    blueprint_id uuid
    trigger_type manual|scheduled|webhook|email|slack|event|api
    config       object
    is_active    boolean
    created_by   uuid
    warnings     strings|absent
  `),
  status: table(`
    id             string
    status         running|completed|failed|paused|not_found
    progress       percent
    startTime      time|null
    endTime        time|null
    totalSteps     count
    completedSteps count
    failedSteps    count
    steps          array
    logs           array
    currentStep    string|null|absent
    awaitingInput  object|null|absent
    awaitingInputs array|null|absent
  `),
  step,
  logEntry,
  awaitingInput: table(`
    nodeId      string
    kind        human|approval|oauth|unknown-outcome|budget
    prompt      string
    schema      object|absent
    options     array|absent
    url         string|absent
    requestedAt time
    expiresAt   time|absent
  `),
  executionLog: table(`
    id                            ulid
    blueprintId                   uuid
    organizationId                uuid
    userId                        uuid
    status                        running|completed|failed
    startTime                     time|null
    endTime                       time|null
    totalSteps                    count
    completedSteps                count
    failedSteps                   count
    progress                      percent
    executionData                 object
    createdAt                     time
    updatedAt                     time
    totalTokensUsed               count
    usedMcpServers                boolean
    mcpServerCount                count
    mcpServerNames                strings
    reachedOutForData             boolean
    externalDataSourcesCount      count
    dataSourcesSummary            array
    requiredLogin                 boolean
    oauthFlowsTriggered           boolean
    authenticationMethodsUsed     strings
    primaryAiProviderConnectionId string
    aiProvidersUsedCount          count
    hasErrors                     boolean
    errorCount                    count
    criticalErrors                boolean
    errorSummary                  string
    inputVariables                object
    outputSummary                 object
    executionMetadata             object
  `),
  firing: table(`
    id          ulid
    triggerId   uuid
    source      schedule|webhook|api|manual|email|slack|event|redelivery
    key         string|null
    dueAt       time|null
    receivedAt  time
    decision    started|duplicate|skipped|refused|coalesced
    reason      string|null
    executionId execution|null
  `),
  apiKey: table(`
    id         ulid
    name       string
    last4      string
    scopes     strings
    createdAt  time
    expiresAt  time|null
    lastUsedAt time|null
    revokedAt  time|null
  `),
  version: table(`
    version               version
    createdAt             time
    createdBy             uuid
    blueprint_map         object|null
    environment_variables array
  `),
};

/** Checks that the value is a record of that name: all its fields, their types, no others. Returns it. */
export function shape(name, value) {
  const fields = tables[name];
  assert.ok(is.object(value), `${name}: expected an object, got ${JSON.stringify(value)}`);
  for (const [field, types] of Object.entries(fields)) {
    // A word that is not a type above is a literal of a closed list.
    const fits = types.some((type) => (Object.hasOwn(is, type) ? is[type](value[field]) : value[field] === type));
    assert.ok(fits, `${name}.${field}: expected ${types.join(' or ')}, got ${JSON.stringify(value[field])}`);
  }
  const unknown = Object.keys(value).filter((field) => !Object.hasOwn(fields, field));
  assert.deepEqual(unknown, [], `${name} has fields that the interface does not name`);
  if (name === 'status') {
    value.steps.forEach((item) => shape('step', item));
    value.logs.forEach((item) => shape('logEntry', item));
    if (value.awaitingInput) shape('awaitingInput', value.awaitingInput);
  }
  return value;
}
