/** The path of `path?query`. */
export function targetPath(target: string): string {
  const mark = target.indexOf('?')
  return mark === -1 ? target : target.slice(0, mark)
}

/** The query of `path?query`, without the question mark. */
export function targetQuery(target: string): string {
  const mark = target.indexOf('?')
  return mark === -1 ? '' : target.slice(mark + 1)
}
