const words = new Map(
  Object.entries<string>({
    url: 'URL',
    urls: 'URLs',
    id: 'ID',
    ids: 'IDs',
    json: 'JSON',
    html: 'HTML',
    http: 'HTTP',
    mcp: 'MCP',
    api: 'API',
    smtp: 'SMTP',
    cc: 'Cc',
    bcc: 'Bcc',
    ts: 'timestamp',
    mb: 'MB',
  }),
)

/** A key in words: `expectStatus` is "Expect status", `timeoutMs` "Timeout", `connectionId` "Connection". */
export function labelOf(key: string): string {
  const parts = key
    .replace(/([\p{Ll}\d])(\p{Lu})/gu, '$1 $2')
    .replace(/(\p{Lu})(\p{Lu}\p{Ll})/gu, '$1 $2')
    .split(/[\s_-]+/)
    .filter((part) => part !== '')
  const last = parts.at(-1)
  // The control shows the unit and "ID".
  if (parts.length > 1 && (last === 'Ms' || last === 'Id')) parts.pop()
  if (parts.length > 1 && last === 'Ids') parts.splice(-2, 2, `${parts.at(-2)!}s`)
  const text = parts.map((part) => words.get(part.toLowerCase()) ?? part.toLowerCase()).join(' ')
  return text === '' ? key : text[0]!.toUpperCase() + text.slice(1)
}
