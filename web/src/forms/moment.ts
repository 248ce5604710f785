/**
 * The value of a datetime-local control for an instant: its local time, to the second; undefined for an invalid one.
 */
export function dayTime(text: string): string | undefined {
  if (text === '') return ''
  const at = new Date(text)
  if (Number.isNaN(at.getTime()) || !/^\d{4}-\d\d-\d\dT/.test(text)) return undefined
  const two = (number: number) => String(number).padStart(2, '0')
  return `${String(at.getFullYear()).padStart(4, '0')}-${two(at.getMonth() + 1)}-${two(at.getDate())}T${two(at.getHours())}:${two(at.getMinutes())}:${two(at.getSeconds())}`
}

/** The instant of a local time, in UTC as the server writes it; undefined for an invalid one. */
export function momentOf(local: string): string | undefined {
  const at = new Date(local)
  return Number.isNaN(at.getTime()) ? undefined : at.toISOString()
}
