/** Reports whether a path matches a pattern: `:name` matches any segment, `:name?` at the end also none. */
export function matches(pattern: string, path: string): boolean {
  const wanted = pattern.split('/').filter(Boolean)
  const given = path.split('/').filter(Boolean)
  if (given.length > wanted.length) return false
  return wanted.every((part, index) => {
    const segment = given[index]
    if (segment === undefined) return part.endsWith('?')
    return part.startsWith(':') || part === segment
  })
}
