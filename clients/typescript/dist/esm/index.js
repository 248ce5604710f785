export * from './client.js';
export { connectBlueprintd, startBlueprintd } from './server.js';
