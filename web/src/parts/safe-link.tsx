import { Anchor } from '@mantine/core'
import { IconExternalLink } from '@tabler/icons-react'
import type { ReactNode } from 'react'
import { safeAddress } from './safe-address'
import { safeLinkText } from '../text/parts'

/** A link to an address from data: http, https and mailto are links, in a new tab; anything else is plain text. */
export function SafeLink({ href, children }: { href: string; children?: ReactNode }) {
  const address = safeAddress(href)
  if (!address) return <span>{children ?? href}</span>
  return (
    <Anchor href={address} target="_blank" rel="noopener noreferrer" inherit style={{ overflowWrap: 'anywhere' }}>
      {children ?? href} <IconExternalLink size="0.9em" role="img" aria-label={safeLinkText.opensInANewTab} />
    </Anchor>
  )
}
