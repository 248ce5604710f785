export * from './client.js'
export { startBlueprintd, type Blueprintd, type Execution, type StartOptions, type WebhookAnswer } from './server.js'
export type { Call, Rule } from './sandbox.js'
