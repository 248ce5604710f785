// A sequence and the graph that the editor converts it to behave the same: random sequences run in both
// forms, converted by the editor's function.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { connect } from './support/clients.mjs';
import { until } from './support/poll.mjs';
import { startServer, stopAll } from './support/server.mjs';
import { fromWeb } from './support/web.mjs';

let server, client, blueprint, orderAsEdges;
before(async () => {
  ({ orderAsEdges } = await fromWeb('pages/editor/order-as-edges.ts'));
  server = await startServer({ flags: ['--rate-limit', '0'] });
  client = connect(server.baseUrl, server.key);
  blueprint = await client.blueprint.create.mutate({ title: 'Both forms', blueprint_map: { nodes: [] } });
});
after(() => stopAll(server));

const SEED = Number(process.env.SEED ?? 20261123);
const RUNS = Number(process.env.SEQUENCES ?? 150);

/** Numbers from 0 up to a limit, the same for the same seed (mulberry32). */
function random(seed) {
  let state = seed >>> 0;
  return (below) => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) % below;
  };
}

const decisions = ['approve', 'reject', 'comment'];
const answers = { approve: { approved: true }, reject: { approved: false }, comment: { approved: false, comment: 'too dear' } };

// The node types of a sequence. `{{input}}` after a node that failed or waited is whatever it
// passed on, so that a difference shows in every later output.
const kinds = [
  (pick) => ({ type: 'set', config: { values: { x: pick(10), before: '{{input}}' } } }),
  () => ({ type: 'template', config: { text: 'after {{input}}' } }),
  (pick) => ({ type: 'conditional', config: { condition: ['true', 'true', 'false', 'inputData.n > 4', 'nothing.there > 1', '"no boolean"'][pick(6)] } }),
  (pick) => ({ type: 'conditional', config: { condition: ['true', 'inputData.n > 4', 'nothing.there > 1'][pick(3)] } }),
  (pick) => ({ type: 'switch', config: { value: '{{inputData.n}}', cases: [{ equals: pick(10), handle: 'same' }] } }),
  (pick) => ({ type: 'approval_gate'.replace('_', pick(2) ? '_' : '-'), config: { prompt: 'Go on?' } }),
  (pick) => ({ type: 'approval-gate', config: { prompt: 'Go on?', expiresMs: 1, onExpire: ['fail', 'approve', 'reject'][pick(3)] } }),
  (pick) => ({ type: 'transform', config: { expression: ['inputData.n + 1', 'inputData.n.missing.more'][pick(2)] } }),
  (pick) => ({ type: 'stop', config: { failed: pick(2) === 0, message: 'over' }, rare: true }),
  () => ({ type: 'log', config: { message: 'here' } }),
  () => ({ type: 'merge', config: { mode: 'object' } }),
  (pick) => ({ type: 'for-each', config: { items: '{{[1, 2]}}'.replace('{{', '{{= '), nodes: sequence(pick, 3, kinds.filter((_, index) => ![5, 6, 10].includes(index))).nodes } }),
];

function sequence(pick, most, of = kinds) {
  const nodes = Array.from({ length: 2 + pick(most) }, (_, index) => {
    let made = of[pick(of.length)](pick);
    if (made.rare && pick(3) > 0) made = kinds[0](pick);
    const { type, config } = made;
    const onError = [undefined, undefined, 'continue', 'branch', 'stop'][pick(5)];
    return { id: `${'abcdefgh'[index]}${most}`, type, title: `Node ${index}`, config, ...(onError && { onError }), ...(pick(8) === 0 && { disabled: true }) };
  });
  return { nodes };
}

/** Converts the order of every sequence in a map to edges, including for-each bodies. */
function converted(map, inLoop = false) {
  const inner = { ...map, nodes: map.nodes.map((node) => (node.config.nodes ? { ...node, config: { ...node.config, ...converted({ nodes: node.config.nodes }, true) } } : node)) };
  const made = orderAsEdges(inner, inLoop);
  assert.ok('map' in made, made.problem);
  return made.map;
}

/** Runs a map to its end, answering approvals in the order of their nodes, and returns what it did. */
async function outcome(map, inputData, decide) {
  const { executionId } = await client.execution.executeBlueprintWithLogging.mutate({ ...map, options: { blueprintId: blueprint.id, inputData } });
  return until('the end of the run', async () => {
    const now = await client.execution.getExecutionStatus.query({ executionId });
    if (now.status === 'completed' || now.status === 'failed') return now;
    const waiting = now.status === 'paused' && now.awaitingInput;
    // One that expires gets no answer.
    if (waiting && !waiting.expiresAt) await client.execution.resume.mutate({ executionId, nodeId: waiting.nodeId, input: answers[decide(waiting.nodeId)] });
    return undefined;
  });
}

/** The compared parts of a run: its status, the output of each node of the sequence, and the error. */
function meaning(run, of) {
  const steps = run.steps.filter((step) => of.has(step.nodeId));
  const failed = run.steps.filter((step) => step.status === 'failed' && step.error).at(-1);
  return {
    status: run.status,
    why: run.status === 'failed' ? failed?.error.message : undefined,
    // A rejected approval is the failed step of a sequence; in a graph it completed and led to
    // the stop node.
    steps: steps.map((step) => {
      const rejected = /^approval.gate$/.test(step.nodeType) && (step.error?.code === 'rejected' || step.output?.approved === false);
      if (rejected) return [step.nodeId, 'rejected'];
      return ['pending', 'skipped'].includes(step.status) ? [step.nodeId, 'did not run'] : [step.nodeId, step.status, step.output, step.error?.code];
    }).sort(),
  };
}

test('random sequences and their graphs', async () => {
  const seen = new Map();
  for (let number = 0; number < RUNS; number++) {
    const pick = random(SEED + number);
    const line = sequence(pick, 6);
    const graph = converted(line);
    const inputData = { n: pick(10) };
    const chosen = new Map(line.nodes.map((node) => [node.id, decisions[pick(3)]]));
    const decide = (id) => chosen.get(id);
    const [one, other] = [await outcome(line, inputData, decide), await outcome(graph, inputData, decide)];
    const known = new Set(one.steps.map((step) => step.nodeId));
    const text = `sequence ${number} of SEED=${SEED}: ${JSON.stringify({ line, inputData, chosen: [...chosen] })}`;
    assert.deepEqual(meaning(other, known), meaning(one, known), text);
    const kind = `${one.status}${one.steps.some((step) => ['pending', 'skipped'].includes(step.status)) ? ', ended early' : ''}`;
    seen.set(kind, (seen.get(kind) ?? 0) + 1);
  }
  for (const kind of ['completed', 'completed, ended early', 'failed, ended early', 'failed']) assert.ok(seen.get(kind) > 2, `too few runs that ${kind}: ${JSON.stringify([...seen])}`);
});
