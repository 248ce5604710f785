/** Reports whether two JSON values are equal, regardless of the order of members. */
export function same(one: unknown, other: unknown): boolean {
  if (Object.is(one, other)) return true
  if (typeof one !== 'object' || typeof other !== 'object' || one === null || other === null) return false
  if (Array.isArray(one) !== Array.isArray(other)) return false
  const [mine, theirs] = [one as Record<string, unknown>, other as Record<string, unknown>]
  const keys = Object.keys(mine).filter((key) => mine[key] !== undefined)
  if (keys.length !== Object.keys(theirs).filter((key) => theirs[key] !== undefined).length) return false
  return keys.every((key) => Object.hasOwn(theirs, key) && same(mine[key], theirs[key]))
}
