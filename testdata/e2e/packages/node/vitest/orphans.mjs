// Starts servers, prints their process ids, and waits to be killed.
import { startBlueprintd } from 'blueprintd'

const servers = await Promise.all(Array.from({ length: 10 }, () => startBlueprintd()))
console.log(JSON.stringify(servers.map(({ pid }) => pid)))
for (;;) await startBlueprintd()
