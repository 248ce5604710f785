// Blueprint maps that several suites run.

/** A node whose title is made from its ID. */
export const node = (id, type, config = {}, more = {}) => ({ id, type, title: `The ${id} node`, config, ...more });

/** An edge from one node to another, optionally with a handle. */
export const edge = (source, target, sourceHandle) => ({ source, target, ...(sourceHandle && { sourceHandle }) });

/** Greets {{who}}: two nodes that run one after the other. */
export const greeting = {
  nodes: [
    node('facts', 'set', { values: { greeting: 'hello {{who}}' } }),
    node('text', 'template', { text: '{{greeting}}, {{input.greeting}}!' }),
  ],
};
export const greetingVariables = [{ name: 'who', type: 'string', default: 'nobody' }];

/** Asks a user for a number from 1 to 10, then doubles it. */
export const question = {
  nodes: [
    node('ask', 'human', {
      prompt: 'How many, {{who ?? "stranger"}}?',
      schema: { type: 'object', required: ['count'], properties: { count: { type: 'integer', minimum: 1, maximum: 10 } } },
    }),
    node('double', 'transform', { expression: 'input.count * 2' }),
  ],
};

/** Ends as failed, with a message. */
export const failing = {
  nodes: [
    node('before', 'set', { values: { seen: true } }),
    node('halt', 'stop', { failed: true, message: 'nothing more to do' }),
    node('after', 'set', { values: { reached: true } }),
  ],
};

/** A well-formed ID of nothing. */
export const unknownId = '3fa85f64-5717-4562-b3fc-2c963f66afa6';
