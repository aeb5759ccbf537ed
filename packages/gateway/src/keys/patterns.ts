/** Returns the function that tells whether a name matches one of the patterns, which have one `*` at most. */
export function matcher(patterns: readonly string[]): (name: string) => boolean {
  const exact = new Set(patterns.filter((pattern) => !pattern.includes('*')))
  const wild = patterns
    .filter((pattern) => pattern.includes('*'))
    .map((pattern) => {
      const [prefix = '', suffix = ''] = pattern.split('*')
      return { prefix, suffix }
    })
  return (name) => exact.has(name) || wild.some((pattern) => matches(pattern, name))
}

function matches({ prefix, suffix }: { prefix: string; suffix: string }, name: string): boolean {
  return name.length >= prefix.length + suffix.length && name.startsWith(prefix) && name.endsWith(suffix)
}
