/** The version that a change of the map makes of another; undefined when that is not written as versions are. */
export function nextMinor(version: string): string | undefined {
  const parts = /^(\d{1,9})\.(\d{1,9})\.\d+$/.exec(version)
  return parts ? `${parts[1]}.${Number(parts[2]) + 1}.0` : undefined
}
