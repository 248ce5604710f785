export * from './client.js';
export { connectBlueprintd, startBlueprintd, type Blueprintd, type Connected, type Execution, type StartOptions, type WebhookAnswer } from './server.js';
export type { Answer, Call, CallFilter, Expectation, Match, Rule, Sending, Verdict } from './sandbox.js';
export type { Seed } from './process.js';
