// The requests of the wire suite. Each is sent to the server under test and to a real tRPC
// server, and the responses must be equal. Where blueprintd differs on purpose, the request has
// `decided`: the decision, and the parts of the real server's response that it replaces.
import { unknownId } from './maps.mjs';
import { KEY } from './server.mjs';

const root = '/api/trpc';
const json = { 'content-type': 'application/json' };
const stream = { 'trpc-accept': 'application/jsonl' };
const encode = (value) => encodeURIComponent(typeof value === 'string' ? value : JSON.stringify(value));
const megabytes = (n) => n << 20;

/** The requests, in groups by title. */
export const groups = {};
let group;
const about = (title) => (group = groups[title] = []);

function request(name, method, path, { key = KEY, headers = {}, ...more } = {}) {
  const authorization = key === null ? {} : { authorization: key.includes(' ') ? key : `Bearer ${key}` };
  group.push({ name, method, path: root + path, headers: { ...authorization, ...headers }, ...more });
}
const get = (name, path, more) => request(name, 'GET', path, more);
const post = (name, path, body, { headers, ...more } = {}) => request(name, 'POST', path, { body, headers: { ...json, ...headers }, ...more });
const query = (name, procedure, value, more) => get(name, `/${procedure}?input=${encode({ json: value })}`, more);
const mutation = (name, procedure, value, more) => post(name, `/${procedure}`, JSON.stringify({ json: value }), more);
const batchGet = (name, procedures, input, more) => get(name, `/${procedures}?batch=1${input === undefined ? '' : `&input=${encode(input)}`}`, more);
const batchPost = (name, procedures, input, more) => post(name, `/${procedures}?batch=1`, typeof input === 'string' ? input : JSON.stringify(input), more);

// The decided responses; "dummy:" represents the server's own text. A request with created
// succeeds and creates something: its payload has ids and times, so only the picked fields are
// compared.
const badRequest = (path) => ({ status: 400, body: { error: { json: { message: 'dummy: BAD_REQUEST', code: -32600, data: { code: 'BAD_REQUEST', httpStatus: 400, path } } } } });
const created = { pick: ['title', 'description', 'status', 'visibility', 'version', 'tags', 'blueprint_map', 'environment_variables', 'average_rating', 'rating_count'] };
const step = { id: 'a', type: 'set', title: 'A', config: {} };

about('paths');
get('a query without input', '/blueprint.list');
get('an unknown procedure', '/blueprint.nothing');
get('an unknown procedure without a key', '/blueprint.nothing', { key: null });
get('an unknown router', '/nothing.list');
get('a router alone', '/blueprint');
get('a procedure below a procedure', '/blueprint.list.more');
get('other letter case', '/Blueprint.List');
get('the root', '');
get('the root with a slash', '/');
get('the root with a query', '?batch=1');
get('a trailing slash', '/blueprint.list/');
get('two trailing slashes', '/blueprint.list//');
get('two slashes in front', '//blueprint.list');
get('a slash instead of the dot', '/blueprint/list');
get('two dots', '/blueprint..list');
get('an encoded dot', '/blueprint%2Elist');
get('an encoded slash', '/blueprint%2Flist');
get('an encoded letter', '/blueprint.%6Cist');
const unreadable = { decided: ['a request line that the HTTP library cannot read is refused before it is looked at', { contentType: 'text/plain; charset=utf-8', body: '400 Bad Request' }] };
get('a bad escape', '/blueprint.list%zz', unreadable);
get('a bad escape without a key', '/blueprint.list%zz', { key: null, ...unreadable });
get('an escape cut short', '/blueprint.list%2', unreadable);
get('a name of the language', '/__proto__');
get('another name of the language', '/constructor.name');
get('markup', '/%3Cscript%3Ealert(1)%3C/script%3E');
get('letters beyond ASCII', '/bl%C3%BCprint.list');
post('an unknown procedure by POST', '/blueprint.nothing', '{"json":{}}');
post('the root by POST', '', '{"json":{}}');

about('methods');
post('a query by POST', '/blueprint.list', '{"json":{"page":2}}');
post('a query by POST without a key', '/blueprint.list', '{"json":{}}', { key: null });
query('a mutation by GET', 'blueprint.create', { title: 'x' });
query('a mutation by GET without a key', 'blueprint.create', { title: 'x' }, { key: null });
request('HEAD of a query', 'HEAD', '/blueprint.list');
request('HEAD of nothing, without a key', 'HEAD', '/nothing', { key: null });
for (const method of ['PUT', 'PATCH', 'DELETE', 'OPTIONS']) {
  request(`${method} of a query, with JSON`, method, '/blueprint.list', { headers: json, body: '{"json":{}}' });
  request(`${method} of a mutation, with JSON`, method, '/blueprint.create', { headers: json, body: '{"json":{"title":"x"}}' });
  request(`${method} without a content type`, method, '/blueprint.list');
}
request('DELETE of an unknown procedure', 'DELETE', '/blueprint.nothing', { headers: json });
request('a preflight of a browser', 'OPTIONS', '/blueprint.create', { key: null, headers: { origin: 'http://example.com', 'access-control-request-method': 'POST', 'access-control-request-headers': 'authorization,content-type' } });
get('a query by HTTP/1.0', '/blueprint.list?input=%7B%22json%22:%7B%22page%22:3%7D%7D', { http10: true });

about('content types');
const title = '{"json":{"title":"typed"}}';
for (const type of ['application/json; charset=utf-8', 'application/json;charset=UTF-8', 'Application/JSON']) post(`POST as ${type}`, '/blueprint.create', title, { headers: { 'content-type': type }, ...created });
for (const type of ['text/plain', 'application/x-www-form-urlencoded', 'application/jsonx', 'application/vnd.api+json', 'application/xml; charset=utf-8', 'json', '*/*']) post(`POST as ${type}`, '/blueprint.create', title, { headers: { 'content-type': type } });
post('POST as multipart/form-data', '/blueprint.create', '--q\r\ncontent-disposition: form-data; name="title"\r\n\r\nx\r\n--q--\r\n', { headers: { 'content-type': 'multipart/form-data; boundary=q' } });
post('POST as application/octet-stream', '/blueprint.create', title, { headers: { 'content-type': 'application/octet-stream' } });
request('POST without a content type', 'POST', '/blueprint.create', { body: title });
request('POST without a content type and key', 'POST', '/blueprint.create', { body: title, key: null });
request('POST to nothing without a content type', 'POST', '/blueprint.nothing', { body: title });
for (const type of ['text/plain', 'application/x-www-form-urlencoded', 'application/json', 'multipart/form-data; boundary=q', 'application/octet-stream']) get(`GET as ${type}`, '/blueprint.list', { headers: { 'content-type': type } });

about('keys');
get('no key', '/blueprint.list', { key: null });
get('a wrong key', '/blueprint.list', { key: 'not-the-key' });
get('another scheme', '/blueprint.list', { key: 'Basic dXNlcjpwYXNz' });
get('a key without a scheme', '/blueprint.list', { key: null, headers: { authorization: KEY } });
get('a scheme without a key', '/blueprint.list', { key: null, headers: { authorization: 'Bearer' } });
get('a key in the query', `/blueprint.list?authorization=Bearer%20${KEY}`, { key: null });
mutation('no key on a mutation', 'blueprint.create', { title: 'x' }, { key: null });
get('broken input without a key', `/blueprint.get?input=${encode('{"json":')}`, { key: null });
post('a broken body without a key', '/blueprint.create', '{"json":', { key: null });
mutation('invalid input without a key', 'blueprint.create', {}, { key: null });

about('where the input of a query comes from');
query('an input', 'blueprint.list', { page: 4, limit: 7 });
get('an empty input', '/blueprint.list?input=');
get('an empty input where one is required', '/blueprint.get?input=');
get('no input where one is required', '/blueprint.get');
get('unescaped braces and quotes', '/blueprint.list?input={"json":{"page":5}}');
get('an unescaped semicolon', '/execution.getExecutionStatus?input={"json":{"executionId":"a;b"}}');
get('plus signs are spaces', '/execution.getExecutionStatus?input=%7B%22json%22:%7B%22executionId%22:%22a+b%2Bc%22%7D%7D');
get('a bad escape inside a string', '/execution.getExecutionStatus?input=%7B%22json%22:%7B%22executionId%22:%22%zz%22%7D%7D');
get('a bad escape alone', '/blueprint.list?input=%zz');
get('the first of two inputs', `/blueprint.list?input=${encode({ json: { page: 2 } })}&input=${encode({ json: { page: 3 } })}`);
get('other parameters', `/blueprint.list?page=9&input=${encode({ json: { page: 2 } })}&more`);
get('a parameter of other letter case', `/blueprint.list?Input=${encode({ json: { page: 2 } })}`);
get('blanks around the document', `/blueprint.list?input=${encode(' \n{"json":{"page":2}}\t ')}`);
get('more after the document', `/blueprint.list?input=${encode('{"json":{}} x')}`);
get('a document cut short', `/blueprint.list?input=${encode('{"json":{"page":')}`);
get('a word', `/blueprint.list?input=${encode('abc')}`);
get('a comma too many', `/blueprint.list?input=${encode('{"json":{"page":1,}}')}`);
get('single quotes', `/blueprint.list?input=${encode("{'json':{}}")}`);
for (const text of ['{}', '[]', '5', '"text"', 'true']) get(`no envelope: ${text}`, `/blueprint.list?input=${encode(text)}`);
get('no envelope: null', `/blueprint.list?input=${encode('null')}`);
get('no envelope: the parameters alone', `/blueprint.get?input=${encode({ id: unknownId })}`);
get('an envelope of other letter case', `/blueprint.get?input=${encode({ JSON: { id: unknownId } })}`);
get('more in the envelope', `/blueprint.list?input=${encode({ json: { page: 2 }, more: 1 })}`);
query('null', 'blueprint.list', null);
query('an array', 'blueprint.list', []);
query('a string', 'blueprint.list', 'text');
get('keys that are repeated: the last wins', `/blueprint.list?input=${encode('{"json":{"page":2},"json":{"page":3,"page":4}}')}`);
request('a body on GET is not looked at', 'GET', '/blueprint.list', { headers: json, body: 'hello' });
query('characters that are escaped elsewhere', 'execution.getExecutionStatus', { executionId: '<&>\'"\\/\u2028\u2029\u007f\b\f\u0001\u00e9\u{1f600}' });
get('an invalid UTF-8 escape', '/execution.getExecutionStatus?input=%7B%22json%22:%7B%22executionId%22:%22%FF%22%7D%7D', { decided: ['invalid UTF-8 is refused', badRequest('execution.getExecutionStatus')] });

about('bodies of mutations');
mutation('a body', 'blueprint.create', { title: 'from the body', tags: ['a'] }, created);
post('an input in the query is not looked at', `/blueprint.create?input=${encode({ json: { title: 'x' } })}`, '{"json":{}}');
for (const body of ['', '{}', '5', '[]', '"text"', 'null']) post(`a body without an envelope: ${body || '(empty)'}`, '/blueprint.create', body);
post('the parameters alone', '/blueprint.create', '{"title":"x"}');
post('a body cut short', '/blueprint.create', '{"json":{"title":"x"');
post('a body with more after it', '/blueprint.create', '{"json":{"title":"x"}}{}');
post('a byte order mark', '/blueprint.create', '\ufeff{"json":{"title":"marked"}}', created);
post('invalid UTF-8', '/blueprint.create', Buffer.from('{"json":{"title":"\xff"}}', 'latin1'), { ...created, decided: ['invalid UTF-8 is refused', badRequest('blueprint.create')] });
post('invalid UTF-8 without a key', '/blueprint.create', Buffer.from('{"json":{"title":"\xff"}}', 'latin1'), { key: null });
post('a zero character in a string', '/blueprint.create', '{"json":{"title":"a\\u0000b"}}', created);
post('a control character in a string', '/blueprint.create', '{"json":{"title":"a\nb"}}');
post('a body in chunks', '/blueprint.create', '{"json":{"title":"in chunks"}}', { headers: { 'transfer-encoding': 'chunked' }, ...created });
post('a body at the limit', '/blueprint.create', `{"json":{"title":"large"}}${' '.repeat(megabytes(5) - 26)}`, created);
post('a body over the limit', '/blueprint.create', `{"json":{"title":"large"}}${' '.repeat(megabytes(5) - 25)}`);
post('a body over the limit, without a key', '/blueprint.create', `{"json":{"title":"large"}}${' '.repeat(megabytes(5) - 25)}`, { key: null });
post('deep nesting', '/blueprint.create', `{"json":{"title":"deep","environment_variables":${'['.repeat(200)}${']'.repeat(200)}}}`, { ...created, decided: ['more than 128 levels are refused', badRequest('blueprint.create')] });

about('validation');
mutation('create: nothing', 'blueprint.create', {});
mutation('create: an empty title', 'blueprint.create', { title: '' });
mutation('create: wrong types everywhere', 'blueprint.create', { title: 5, description: [], status: 'odd', tags: 'a', blueprint_map: 'b', environment_variables: {}, organization_id: 'c' });
mutation('create: one wrong tag', 'blueprint.create', { title: 'x', tags: ['a', 5, null] });
mutation('create: null for what is optional', 'blueprint.create', { title: 'x', description: null, status: null, tags: null }, {
  ...created,
  decided: ['null counts as absent', { status: 200, body: { result: { data: { json: { title: 'x', description: '', status: 'draft', visibility: 'private', version: '1.0.0', tags: [], blueprint_map: null, environment_variables: [], average_rating: 0, rating_count: 0 } } } } }],
});
mutation('create: null for what is required', 'blueprint.create', { title: null });
mutation('create: unknown keys are not looked at', 'blueprint.create', { title: 'x', visibility: 'public', id: 5, more: {} }, created);
mutation('create: keys of other letter case', 'blueprint.create', { Title: 'x' });
mutation('create: a map is kept with all it holds', 'blueprint.create', { title: 'x', blueprint_map: { nodes: [{ ...step, x: 1.5 }], zoom: [1, { a: null }] } }, created);
mutation('create: a map without nodes', 'blueprint.create', { title: 'x', blueprint_map: {} });
mutation('create: nodes that are no array', 'blueprint.create', { title: 'x', blueprint_map: { nodes: {} } });
mutation('create: an empty node', 'blueprint.create', { title: 'x', blueprint_map: { nodes: [step, {}] } });
mutation('create: wrong types in a node', 'blueprint.create', { title: 'x', blueprint_map: { nodes: [{ id: 1, type: [], title: null, config: 'c' }] } });
mutation('create: a node that is none', 'blueprint.create', { title: 'x', blueprint_map: { nodes: ['a'] } });
query('list: page 0 and limit 101', 'blueprint.list', { page: 0, limit: 101 });
query('list: fractions', 'blueprint.list', { page: 1.5, limit: 0.5 });
query('list: numbers in strings', 'blueprint.list', { page: '1', limit: '20' });
query('list: an unknown status', 'blueprint.list', { status: 'archived', search: 5 });
query('list: the limits themselves', 'blueprint.list', { page: 1, limit: 100 });
get('list: a number like 2.0', `/blueprint.list?input=${encode('{"json":{"page":2.0,"limit":1e1}}')}`);
get('list: a number beyond all', `/blueprint.list?input=${encode('{"json":{"page":1e400}}')}`);
query('get: no id', 'blueprint.get', {});
query('get: an id that is none', 'blueprint.get', { id: '3fa85f64' });
query('get: an id in braces', 'blueprint.get', { id: `{${unknownId}}` });
query('get: an unknown id', 'blueprint.get', { id: unknownId });
query('get: an unknown id in capitals', 'blueprint.get', { id: unknownId.toUpperCase() });
query('get: an id of no known version', 'blueprint.get', { id: '3fa85f64-5717-0562-03fc-2c963f66afa6' });
mutation('execute: wrong types', 'blueprint.execute', { id: 7, variables: [] });
mutation('execute: null variables', 'blueprint.execute', { id: unknownId, variables: null }, {
  decided: ['null counts as absent', { status: 404, body: { error: { json: { message: 'dummy: NOT_FOUND', code: -32004, data: { code: 'NOT_FOUND', httpStatus: 404, path: 'blueprint.execute' } } } } }],
});
mutation('execute: an unknown id', 'blueprint.execute', { id: unknownId });
mutation('delete: an unknown id', 'blueprint.delete', { id: unknownId });
query('versions: an unknown id', 'blueprint.versions', { id: unknownId });
mutation('validate: a map', 'blueprint.validate', { blueprint_map: { nodes: [{ ...step, config: { values: {} } }] } });
mutation('validate: nothing', 'blueprint.validate', {});
mutation('validate: a map that is none', 'blueprint.validate', { blueprint_map: 'text' });
mutation('long run: nothing', 'execution.executeBlueprintWithLogging', {});
mutation('long run: no blueprint', 'execution.executeBlueprintWithLogging', { nodes: [step], options: {} });
mutation('long run: wrong types', 'execution.executeBlueprintWithLogging', { nodes: [{ id: 'a' }], options: { blueprintId: 'b' } });
mutation('long run: an unknown blueprint', 'execution.executeBlueprintWithLogging', { nodes: [step], options: { blueprintId: unknownId } });
query('status: nothing', 'execution.getExecutionStatus', {});
query('status: a number', 'execution.getExecutionStatus', { executionId: 5 });
query('status: an unknown run', 'execution.getExecutionStatus', { executionId: 'exec_1700000000000_01hzzzzzzzzzzzzzzzzzzzzzzz' });
query('logs: nothing', 'execution.getExecutionLogs', {});
query('logs: too many', 'execution.getExecutionLogs', { blueprintId: unknownId, limit: 101, offset: -1 });
query('logs: an unknown blueprint', 'execution.getExecutionLogs', { blueprintId: unknownId });
get('recent: nothing', '/execution.listRecentExecutions');
query('recent: limits', 'execution.listRecentExecutions', { limit: 100, offset: 3 });
query('recent: too many', 'execution.listRecentExecutions', { limit: 101 });
query('recent: wrong types', 'execution.listRecentExecutions', { limit: 'a', offset: 'b', organizationId: 5 });
mutation('cancel: an unknown run', 'execution.cancel', { executionId: 'exec_0_none', reason: 'r' });
query('triggers: no uuid', 'blueprintTriggers.list', { blueprintId: 'x' });
query('triggers: an unknown blueprint', 'blueprintTriggers.list', { blueprintId: unknownId });
mutation('trigger: nothing', 'blueprintTriggers.create', {});
mutation('trigger: an unknown type', 'blueprintTriggers.create', { blueprintId: unknownId, triggerType: 'pigeon', config: [] });
mutation('trigger: an unknown blueprint', 'blueprintTriggers.create', { blueprintId: unknownId, triggerType: 'manual' });
query('webhook url: an unknown trigger', 'blueprintTriggers.getWebhookUrl', { triggerId: unknownId });
mutation('fire: wrong types', 'blueprintTriggers.fire', { triggerId: 'x', inputData: 'y' });
mutation('fire: an unknown trigger', 'blueprintTriggers.fire', { triggerId: unknownId });
query('history: an unknown trigger', 'blueprintTriggers.history', { triggerId: unknownId });

about('annotations of the transformer');
const annotated = (name, value, values, more) => get(name, `/blueprint.list?input=${encode({ json: value, meta: { values, v: 1 } })}`, more);
annotated('an undefined input', null, ['undefined']);
annotated('undefined fields', { page: null, status: null, search: null }, { page: ['undefined'], status: ['undefined'], search: ['undefined'] });
annotated('an undefined field wins over its value', { page: 5 }, { page: ['undefined'] });
annotated('a field that is not there', { page: 2 }, { 'no.such': ['undefined'] });
annotated('an undefined field beside an invalid one', { page: null, limit: 0 }, { page: ['undefined'] });
annotated('an unknown annotation', { page: 2 }, { page: ['nonsense'] });
annotated('an annotation of the prototype', { page: 2 }, { '__proto__.x': ['undefined'] });
post('an undefined field of a mutation', '/blueprint.create', '{"json":{"title":"x","description":null},"meta":{"values":{"description":["undefined"]}}}', created);
post('an undefined field that is required', '/blueprint.create', '{"json":{"title":"x"},"meta":{"values":{"title":["undefined"]},"v":1}}');
post('undefined in an array', '/blueprint.create', '{"json":{"title":"x","tags":["a",null]},"meta":{"values":{"tags.1":["undefined"]},"v":1}}');
post('a name with a dot', '/blueprint.create', '{"json":{"title":"x","a.b":null},"meta":{"values":{"a\\\\.b":["undefined"]},"v":1}}', created);
get('annotations that are null', `/blueprint.list?input=${encode({ json: { page: 2 }, meta: null })}`);
get('annotations that are empty', `/blueprint.list?input=${encode({ json: { page: 2 }, meta: {} })}`);
get('references between equal objects', `/blueprint.list?input=${encode({ json: { page: 2, limit: 2 }, meta: { referentialEqualities: { page: ['limit'] } } })}`);

about('batches');
const one = { json: { page: 2 } };
const missing = { json: { id: unknownId } };
const invalid = { json: { id: 'x' } };
batchGet('two that succeed', 'blueprint.list,execution.listRecentExecutions', { 0: one, 1: { json: {} } });
batchGet('one that succeeds and one that fails', 'blueprint.list,blueprint.get', { 0: one, 1: missing });
batchGet('two that fail alike', 'blueprint.get,blueprint.get', { 0: missing, 1: missing });
batchGet('two that fail differently', 'blueprint.get,blueprint.get', { 0: missing, 1: invalid });
batchGet('the same call twice', 'blueprint.list,blueprint.list', { 0: one, 1: one });
batchGet('a batch of one', 'blueprint.list', { 0: one });
batchGet('a batch without input', 'blueprint.list,blueprint.get');
batchGet('an index that is missing', 'blueprint.get,blueprint.list', { 1: one });
batchGet('an index too many', 'blueprint.list', { 0: one, 7: one });
batchGet('an index that is null', 'blueprint.list', { 0: null });
batchGet('an input that is an array', 'blueprint.list', [one]);
batchGet('an input that is a string', 'blueprint.list,blueprint.list', '"text"');
batchGet('an input that is null', 'blueprint.list,blueprint.list', 'null');
batchGet('a broken input', 'blueprint.list,blueprint.get', '{"0":');
batchGet('an unknown procedure among others', 'nothing.at,blueprint.list', { 1: one });
batchGet('only unknown procedures', 'nothing.at,nothing.more');
batchGet('a comma at the end', 'blueprint.list,', { 0: one });
batchGet('a comma in front', ',blueprint.list', { 1: one });
batchGet('an encoded comma', 'blueprint.list%2Cblueprint.list', { 0: one, 1: { json: { page: 3 } } });
batchGet('a query and a mutation', 'blueprint.list,blueprint.create', { 0: one, 1: { json: { title: 'x' } } });
batchGet('mutations by GET', 'blueprint.create,blueprint.create', { 0: { json: { title: 'x' } }, 1: { json: { title: 'x' } } });
batchGet('an unknown procedure and a mutation by GET', 'nothing.at,blueprint.create', { 1: { json: { title: 'x' } } });
batchGet('a batch without a key', 'blueprint.list,blueprint.get', {}, { key: null });
batchGet('a hundred calls', Array(100).fill('blueprint.list').join(), {});
batchGet('a hundred and one calls', Array(101).fill('blueprint.list').join(), {});
batchGet('subscriptions', 'execution.subscribe,execution.subscribe', { 0: { json: { executionId: 'e' } } });
batchPost('mutations that fail differently', 'blueprint.create,blueprint.execute', { 0: { json: {} }, 1: missing });
batchPost('a mutation that succeeds and one that fails', 'blueprint.validate,blueprint.create', { 0: { json: { blueprint_map: { nodes: [{ ...step, config: { values: {} } }] } } }, 1: { json: {} } });
batchPost('queries by POST', 'blueprint.list,blueprint.list', { 0: one, 1: one });
batchPost('a broken body', 'blueprint.create,blueprint.create', '{"0":');
batchPost('an empty body', 'blueprint.create', '');
request('a batch without a content type', 'POST', '/blueprint.create?batch=1', { body: '{"0":{"json":{"title":"x"}}}' });
batchPost('a body over the limit', 'blueprint.create,blueprint.create', `{"0":{"json":{"title":"x"}}}${' '.repeat(megabytes(5))}`);
get('batch=true is no batch', `/blueprint.list?batch=true&input=${encode(one)}`);
get('batch=0 is no batch', '/blueprint.list?batch=0');
get('a comma without batch=1', '/blueprint.list,blueprint.list');

about('streamed batches');
batchGet('one that succeeds and one that fails', 'blueprint.list,blueprint.get', { 0: one, 1: missing }, { headers: stream });
batchGet('asked for with accept', 'blueprint.list,blueprint.get', { 0: one, 1: missing }, { headers: { accept: 'application/jsonl' } });
batchGet('one call', 'blueprint.list', { 0: one }, { headers: stream });
batchGet('two that fail alike', 'blueprint.get,blueprint.get', { 0: missing, 1: missing }, { headers: stream });
batchGet('without a key', 'blueprint.list', { 0: one }, { headers: stream, key: null });
batchGet('a broken input', 'blueprint.list,blueprint.list', '{"0":', { headers: stream });
batchGet('an unknown procedure', 'nothing.at,blueprint.list', { 1: one }, { headers: stream });
batchGet('a query and a mutation', 'blueprint.list,blueprint.create', { 0: one }, { headers: stream });
batchGet('a hundred and one calls', Array(101).fill('blueprint.list').join(), {}, { headers: stream });
batchGet('mutations by GET', 'blueprint.create', { 0: { json: { title: 'x' } } }, { headers: stream });
batchPost('mutations', 'blueprint.create,blueprint.execute', { 0: { json: {} }, 1: missing }, { headers: stream });
query('not a batch', 'blueprint.list', {}, { headers: stream });

about('subscriptions');
const running = { executionId: 'exec_0_none' };
query('an unknown run', 'execution.subscribe', running);
query('invalid input', 'execution.subscribe', { executionId: 5 });
query('no key', 'execution.subscribe', running, { key: null });
query('as EventSource asks', 'execution.subscribe', running, { headers: { accept: 'text/event-stream', 'last-event-id': '7' } });
get('the key in connectionParams', `/execution.subscribe?connectionParams=${encode({ authorization: `Bearer ${KEY}` })}&input=${encode({ json: running })}`, { key: null });
get('a wrong key in connectionParams', `/execution.subscribe?connectionParams=${encode({ authorization: 'Bearer not-the-key' })}&input=${encode({ json: running })}`, { key: null });
get('connectionParams that are not JSON', `/execution.subscribe?connectionParams=zz&input=${encode({ json: running })}`);
get('an unknown procedure, as EventSource asks', '/execution.watch', { headers: { accept: 'text/event-stream' } });
mutation('by POST', 'execution.subscribe', running);
