import { show } from '../api/json'
import { isObject, normalType, type JsonObject, type MapNode } from './map'

/** One line that says what a node does, made from its config. Empty when there is nothing to say yet. */
export function summaryOf(node: MapNode): string {
  const config = node.config
  const say = summaries[normalType(node.type)]
  return line(say ? say(config) : firstText(config))
}

const summaries: Record<string, (config: JsonObject) => string> = {
  set: (c) => (isObject(c.values) ? Object.keys(c.values).join(', ') : ''),
  template: (c) => text(c.text),
  transform: (c) => text(c.expression),
  conditional: (c) => text(c.condition),
  switch: (c) => [text(c.value), count(c.cases, 'case')].filter(Boolean).join(': '),
  'for-each': (c) => [text(c.items), body(c)].filter(Boolean).join(': '),
  merge: (c) => text(c.mode) || 'object',
  blueprint: (c) => text(c.blueprintId),
  wait: (c) => (c.until === undefined ? duration(c.durationMs) : `until ${text(c.until)}`),
  'http-request': (c) => `${text(c.method) || 'GET'} ${text(c.url)}`.trim(),
  code: (c) => text(c.source),
  'ai-prompt': (c) => [text(c.model), text(c.prompt) || text(c.userPrompt)].filter(Boolean).join(': '),
  'mcp-tool': (c) => text(c.tool),
  'send-email': (c) => [text(c.to), text(c.subject)].filter(Boolean).join(': '),
  'send-slack': (c) => [text(c.channel), text(c.text)].filter(Boolean).join(': '),
  'emit-event': (c) => text(c.event),
  respond: (c) => [text(c.status), text(c.body)].filter(Boolean).join(' '),
  log: (c) => [text(c.level), text(c.message)].filter(Boolean).join(': '),
  stop: (c) => [c.failed === true ? 'fails' : '', text(c.message)].filter(Boolean).join(': '),
}

function body(config: JsonObject): string {
  if (Array.isArray(config.nodes)) return count(config.nodes, 'node')
  return config.blueprintId === undefined ? '' : 'a blueprint'
}

function count(list: unknown, of: string): string {
  if (!Array.isArray(list)) return ''
  return `${list.length} ${of}${list.length === 1 ? '' : 's'}`
}

function duration(value: unknown): string {
  if (typeof value !== 'number') return text(value)
  for (const [unit, ms] of [['d', 86_400_000], ['h', 3_600_000], ['min', 60_000], ['s', 1000]] as const) {
    if (value >= ms && value % ms === 0) return `${value / ms} ${unit}`
  }
  return value >= 1000 ? `${value / 1000} s` : `${value} ms`
}

function firstText(config: JsonObject): string {
  return text(Object.values(config).find((value) => typeof value === 'string' && value !== ''))
}

function text(value: unknown): string {
  if (value === undefined || value === null) return ''
  if (typeof value === 'string') return value.slice(0, 400)
  return show(value, 0).slice(0, 400)
}

function line(value: string): string {
  const short = value.replace(/\s+/g, ' ').trim()
  return short.length > 120 ? `${short.slice(0, 119)}…` : short
}
