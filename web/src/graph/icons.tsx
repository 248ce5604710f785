import {
  IconArrowsSplit, IconBraces, IconBrandSlack, IconBroadcast, IconClock, IconCode, IconCornerDownLeft, IconFileText, IconForms, IconGitMerge, IconHandStop, IconHexagon, IconMail, IconMathFunction,
  IconNote, IconPlugConnected, IconRepeat, IconSitemap, IconSparkles, IconSwitch3, IconWorld, IconPlayerStop, type Icon,
} from '@tabler/icons-react'
import { normalType } from './map'

/** The groups of the catalogue, each with its colour. */
export const tones: Record<string, string> = { flow: 'violet', data: 'petrol', people: 'amber', services: 'blue', events: 'green' }

const looks: Record<string, [Icon, keyof typeof tones]> = {
  conditional: [IconArrowsSplit, 'flow'], switch: [IconSwitch3, 'flow'], 'for-each': [IconRepeat, 'flow'], merge: [IconGitMerge, 'flow'], blueprint: [IconSitemap, 'flow'], wait: [IconClock, 'flow'], stop: [IconPlayerStop, 'flow'],
  set: [IconBraces, 'data'], template: [IconFileText, 'data'], transform: [IconMathFunction, 'data'], code: [IconCode, 'data'], log: [IconNote, 'data'],
  human: [IconForms, 'people'], 'approval-gate': [IconHandStop, 'people'],
  'http-request': [IconWorld, 'services'], 'ai-prompt': [IconSparkles, 'services'], 'mcp-tool': [IconPlugConnected, 'services'], 'send-email': [IconMail, 'services'], 'send-slack': [IconBrandSlack, 'services'],
  'emit-event': [IconBroadcast, 'events'], respond: [IconCornerDownLeft, 'flow'],
}

/** The group of a type, for its colour; unknown types have none. */
export function toneOf(type: string, category?: string): string {
  const tone = category ?? looks[normalType(type)]?.[1]
  return (tone && tones[tone]) || 'gray'
}

/** The icon of a node type on a tile of its group's colour. */
export function TypeIcon({ type, category, size = 32 }: { type: string; category?: string; size?: number }) {
  const Sign = looks[normalType(type)]?.[0] ?? IconHexagon
  const tone = toneOf(type, category)
  return (
    <span aria-hidden style={{ display: 'grid', placeItems: 'center', flex: 'none', width: size, height: size, borderRadius: 7, background: `var(--mantine-color-${tone}-light)`, color: `var(--mantine-color-${tone}-light-color)` }}>
      <Sign size={Math.round(size * 0.6)} stroke={1.7} />
    </span>
  )
}
