/** The address if it is whole and http, https or mailto; else undefined (javascript: and its kin, relative ones). */
export function safeAddress(text: string): string | undefined {
  try {
    const { protocol, href } = new URL(text)
    return ['http:', 'https:', 'mailto:'].includes(protocol) ? href : undefined
  } catch {
    return undefined
  }
}
