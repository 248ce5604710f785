import {
  IconArrowsSplit,
  IconBraces,
  IconBrandSlack,
  IconBroadcast,
  IconClock,
  IconCode,
  IconCornerDownLeft,
  IconFileText,
  IconForms,
  IconGitMerge,
  IconHandStop,
  IconMail,
  IconMathFunction,
  IconNote,
  IconPlayerStop,
  IconPlugConnected,
  IconRepeat,
  IconSitemap,
  IconSparkles,
  IconSwitch3,
  IconWorld,
  type Icon,
} from '@tabler/icons-react'
import { show } from '../api/json'
import { isObject, normalType, type JsonObject, type MapNode } from './map'
import { looksText } from '../text/graph'

/** The appearance of a node type on the canvas. */
type Look = {
  icon?: Icon
  /** The handles besides "main"; those of a config, such as the cases of a switch, are read from it. */
  handles?: string[]
  /** A summary of a node from its config; by default the first text of the config. */
  summary?: (config: JsonObject) => string
}

// Everything that the dashboard itself knows about node types: the rest is in the server's catalogue. A missing type
// has a plain icon.
const looks = new Map(
  Object.entries<Look>({
    conditional: { icon: IconArrowsSplit, handles: ['true', 'false'], summary: (c) => text(c.condition) },
    switch: {
      icon: IconSwitch3,
      summary: (c) => [text(c.value), count(c.cases, looksText.cases)].filter(Boolean).join(': '),
    },
    'for-each': { icon: IconRepeat, summary: (c) => [text(c.items), body(c)].filter(Boolean).join(': ') },
    merge: { icon: IconGitMerge, summary: (c) => text(c.mode) || 'object' },
    blueprint: { icon: IconSitemap, summary: (c) => text(c.blueprintId) },
    wait: {
      icon: IconClock,
      summary: (c) => (c.until === undefined ? duration(c.durationMs) : looksText.until(text(c.until))),
    },
    respond: { icon: IconCornerDownLeft, summary: (c) => [text(c.status), text(c.body)].filter(Boolean).join(' ') },
    stop: {
      icon: IconPlayerStop,
      summary: (c) => [c.failed === true ? looksText.fails : '', text(c.message)].filter(Boolean).join(': '),
    },
    set: { icon: IconBraces, summary: (c) => (isObject(c.values) ? Object.keys(c.values).join(', ') : '') },
    template: { icon: IconFileText, summary: (c) => text(c.text) },
    transform: { icon: IconMathFunction, summary: (c) => text(c.expression) },
    code: { icon: IconCode, summary: (c) => text(c.source) },
    log: { icon: IconNote, summary: (c) => [text(c.level), text(c.message)].filter(Boolean).join(': ') },
    human: { icon: IconForms },
    'approval-gate': { icon: IconHandStop, handles: ['approved', 'rejected'] },
    'http-request': { icon: IconWorld, summary: (c) => `${text(c.method) || 'GET'} ${text(c.url)}`.trim() },
    'ai-prompt': {
      icon: IconSparkles,
      summary: (c) => [text(c.model), text(c.prompt) || text(c.userPrompt)].filter(Boolean).join(': '),
    },
    'mcp-tool': { icon: IconPlugConnected, summary: (c) => text(c.tool) },
    'send-email': { icon: IconMail, summary: (c) => [text(c.to), text(c.subject)].filter(Boolean).join(': ') },
    'send-slack': { icon: IconBrandSlack, summary: (c) => [text(c.channel), text(c.text)].filter(Boolean).join(': ') },
    'emit-event': { icon: IconBroadcast, summary: (c) => text(c.event) },
  }),
)

/** The appearance of a node type. */
export function lookOf(type: string): Look {
  return looks.get(normalType(type)) ?? {}
}

/** A one-line summary of a node from its config; empty for none. */
export function summaryOf({ type, config }: MapNode): string {
  return line((lookOf(type).summary ?? firstText)(config))
}

function body(config: JsonObject): string {
  if (Array.isArray(config.nodes)) return count(config.nodes, looksText.nodes)
  return config.blueprintId === undefined ? '' : looksText.aBlueprint
}

function count(list: unknown, words: (n: number) => string): string {
  return Array.isArray(list) ? words(list.length) : ''
}

function duration(value: unknown): string {
  if (typeof value !== 'number') return text(value)
  for (const [unit, ms] of [
    ['d', 86_400_000],
    ['h', 3_600_000],
    ['min', 60_000],
    ['s', 1000],
  ] as const) {
    if (value >= ms && value % ms === 0) return `${value / ms} ${unit}`
  }
  return value >= 1000 ? `${value / 1000} s` : looksText.ms(value)
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
