import { Anchor } from '@mantine/core'
import { IconExternalLink } from '@tabler/icons-react'
import { docLinkText, safeLinkText } from '../text/parts'

/** A link to a page of the server's documentation, in a new tab: `to="nodes#wait"`. */
export function DocLink({ to }: { to: string }) {
  return (
    <Anchor href={`/docs/${to}`} target="_blank" inherit style={{ whiteSpace: 'nowrap' }}>
      <span style={{ textDecoration: 'underline' }}>{docLinkText.documentation}</span>{' '}
      <IconExternalLink size="0.9em" role="img" aria-label={safeLinkText.opensInANewTab} />
    </Anchor>
  )
}
