/** The version after a change of the map; undefined if the given one is malformed. */
export function nextMinor(version: string): string | undefined {
  const parts = /^(\d{1,9})\.(\d{1,9})\.\d+$/.exec(version)
  return parts ? `${parts[1]}.${Number(parts[2]) + 1}.0` : undefined
}
