// Polls like a client, until there is a result or a deadline has passed.
import { setTimeout as pause } from 'node:timers/promises';

const every = 15; // milliseconds between two requests

/** Calls ask until it returns something other than undefined, and returns that. */
export async function until(what, ask, seconds = 20) {
  const deadline = Date.now() + seconds * 1000;
  for (;;) {
    const answer = await ask();
    if (answer !== undefined) return answer;
    if (Date.now() > deadline) throw new Error(`waited ${seconds} s in vain: ${what}`);
    await pause(every);
  }
}

/** Polls getExecutionStatus until the run has one of the statuses; returns the record. */
export async function reached(client, executionId, ...states) {
  let last;
  try {
    return await until(`${executionId} becomes ${states.join(' or ')}`, async () => {
      last = await client.execution.getExecutionStatus.query({ executionId });
      return states.includes(last.status) ? last : undefined;
    });
  } catch (error) {
    if (last) error.message += `; it is ${JSON.stringify(last)}`;
    throw error;
  }
}

/** Polls until the run has ended, completed or failed. */
export const ended = (client, executionId) => reached(client, executionId, 'completed', 'failed');
