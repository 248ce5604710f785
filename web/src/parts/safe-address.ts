/** The address if it is absolute and http, https or mailto; otherwise undefined (javascript:, relative ones). */
export function safeAddress(text: string): string | undefined {
  try {
    const { protocol, href } = new URL(text)
    return ['http:', 'https:', 'mailto:'].includes(protocol) ? href : undefined
  } catch {
    return undefined
  }
}
