// Made from the trigger kinds and the connection types (make goldens); not to be edited.

/** The types of triggers, with the sources of their firings and the keys of their configs. */
export const triggerKinds = {
  "manual": {
    title: "Manual",
    text: "Starts runs with a button. Has its own ledger and limits.",
    gives: "inputData is the JSON you enter when you fire it.",
    source: "manual",
    keys: [],
  },
  "scheduled": {
    title: "Schedule",
    text: "Runs at set times, for example every morning, every ten minutes or on the first of the month.",
    gives: "inputData is {\"scheduledAt\", \"firedAt\", \"missedCount\"}.",
    source: "schedule",
    keys: ["cron","timezone","catchUp"],
  },
  "webhook": {
    title: "Webhook",
    text: "Provides a URL that services such as GitHub or Stripe can call.",
    gives: "inputData is the JSON body. trigger.headers holds the headers.",
    source: "webhook",
    keys: ["secret","previousSecret","previousSecretUntil","respond","preset","form","thanks"],
  },
  "email": {
    title: "Mail",
    text: "Provides a mail address. Each message starts a run with its text and attachments.",
    gives: "inputData is {\"messageId\", \"from\", \"to\", \"subject\", \"text\", \"html\", \"date\", \"headers\", \"attachments\"}.",
    source: "email",
    keys: ["allowFrom","attachments","requireAuth","address"],
  },
  "slack": {
    title: "Slack",
    text: "Receives messages, mentions and reactions from the Events API of a Slack app.",
    gives: "inputData is {\"eventId\", \"eventType\", \"channel\", \"user\", \"text\", \"ts\", \"threadTs\", \"teamId\", \"raw\"}.",
    source: "slack",
    keys: ["signingSecret","previousSigningSecret","previousSigningSecretUntil","eventType","connectionId","channel"],
  },
  "event": {
    title: "Event",
    text: "Reacts to events of this server, for example a failed run, a published blueprint or a custom event.",
    gives: "inputData is {\"event\", \"at\", \"blueprintId\", \"executionId\", \"data\"}.",
    source: "event",
    keys: ["event","blueprintId"],
  },
  "api": {
    title: "API call",
    text: "Starts runs from your programs with an API key and JSON. Agents can call it as an MCP tool.",
    gives: "inputData is the JSON body, checked against your schema.",
    source: "api",
    keys: ["inputSchema"],
  },
}

/** The titles of the types of connections. */
export const connectionTitles: Record<string, string> = {
  "ai-provider": "AI provider",
  "mcp-server": "MCP server",
  "oauth2": "OAuth 2",
  "http": "HTTP",
  "smtp": "Mail server",
  "slack": "Slack",
}
