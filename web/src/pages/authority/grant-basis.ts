/**
 * The version to compare before a grant: of versions, newest first, the one called `basis` if it is older than
 * `version`. Both are undefined while the versions cannot be read.
 */
export function compared<V extends { version: string }>(
  versions: readonly V[] | undefined,
  version: string,
  basis: string | null | undefined,
): { before?: V; after?: V } {
  const at = versions?.findIndex((each) => each.version === version) ?? -1
  if (!versions || at < 0) return {}
  return { after: versions[at], before: versions.slice(at + 1).find((each) => each.version === basis) }
}
