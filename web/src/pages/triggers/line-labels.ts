const formats = new Map<string, Intl.DateTimeFormat>()

/** `Mon 23 Nov 2026, 09:00`, in a zone. */
export function dayAndTime(at: number, zone: string): string {
  return format('long', zone, {
    weekday: 'short',
    day: 'numeric',
    month: 'short',
    year: 'numeric',
    hour: '2-digit',
    minute: '2-digit',
    hourCycle: 'h23',
  }).format(at)
}

/** `Mon 23 Nov`, in a zone. */
export function dayOf(at: number, zone: string): string {
  return format('day', zone, { weekday: 'short', day: 'numeric', month: 'short' }).format(at).replace(',', '')
}

/** `09:00`, in a zone. */
export function timeOf(at: number, zone: string): string {
  return format('time', zone, { hour: '2-digit', minute: '2-digit', hourCycle: 'h23' }).format(at)
}

/** The places that can have a label without overlapping another; the first always has one. */
export function labelled(places: number[], apart: number): boolean[] {
  let last = Number.NEGATIVE_INFINITY
  return places.map((place) => {
    if (place - last < apart) return false
    last = place
    return true
  })
}

function format(name: string, zone: string, options: Intl.DateTimeFormatOptions): Intl.DateTimeFormat {
  const key = `${name} ${zone}`
  let known = formats.get(key)
  if (!known) {
    try {
      known = new Intl.DateTimeFormat('en-GB', { ...options, timeZone: zone })
    } catch {
      // a zone unknown to the browser
      known = new Intl.DateTimeFormat('en-GB', { ...options, timeZone: 'UTC' })
    }
    formats.set(key, known)
  }
  return known
}
