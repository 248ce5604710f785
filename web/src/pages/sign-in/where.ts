/** The address to show after signing in: only one of this dashboard, to prevent open redirects. */
export function inside(to: string | null): string {
  if (!to || !/^\/[^/\\]/.test(to) || /[\u0000-\u001f]/.test(to)) return '/'
  return /^\/(signin|setup)([/?#]|$)/.test(to) ? '/' : to
}
