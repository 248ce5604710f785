/** Returns a count with its noun: `1 run`, `1,234 runs`. The plural defaults to the noun with an s. */
export function count(n: number, noun: string, plural = `${noun}s`): string {
  return `${n.toLocaleString('en')} ${n === 1 ? noun : plural}`
}
