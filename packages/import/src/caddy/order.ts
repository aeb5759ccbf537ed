import type { Statement } from '../core/statement.ts'

/** The order in which Caddy runs directives, independent of their order in the file. */
const ORDER = [
  ...['tracing', 'map', 'vars', 'fs', 'root', 'log_append', 'skip_log', 'log_skip', 'log_name', 'header'],
  ...['copy_response_headers', 'request_body', 'redir', 'method', 'rewrite', 'uri', 'try_files', 'basicauth'],
  ...['basic_auth', 'forward_auth', 'request_header', 'encode', 'push', 'intercept', 'templates', 'invoke', 'handle'],
  ...['route', 'abort', 'error', 'copy_response', 'respond', 'metrics', 'reverse_proxy', 'php_fastcgi', 'file_server'],
  'acme_server',
]

/** Returns the order of directives, changed by the `order` options of the file. */
export function directiveOrder(options: readonly Statement[]): string[] {
  const order = [...ORDER]
  for (const option of options.filter(({ name }) => name === 'order')) {
    const [name = '', where = '', other = ''] = option.args
    const old = order.indexOf(name)
    if (old !== -1) order.splice(old, 1)
    const at = order.indexOf(other)
    if (where === 'first') order.unshift(name)
    else if (where === 'last') order.push(name)
    else if (at !== -1) order.splice(where === 'before' ? at : at + 1, 0, name)
    option.carried()
  }
  return order
}

interface SortedDirective {
  readonly name: string
  /** The path of the directive's matcher; null when the matcher has other conditions too. */
  readonly path: string | null
  readonly hasMatcher: boolean
}

/** Sorts directives as Caddy does: by name, then longer paths first, then directives with a matcher. */
export function sortDirectives<Directive extends SortedDirective>(
  list: readonly Directive[],
  order: readonly string[],
): Directive[] {
  // Directives that neither Caddy nor an `order` option lists come first, because they may deny requests.
  const rank = ({ name }: Directive): number => order.indexOf(name)
  return stableInsertionSort(list, (one, other) => {
    if (rank(one) !== rank(other)) return rank(one) < rank(other)
    return one.name === 'vars' ? !isMoreSpecific(one, other) : isMoreSpecific(one, other)
  })
}

function isMoreSpecific(one: SortedDirective, other: SortedDirective): boolean {
  if (one.path === null || other.path === null) return one.hasMatcher && !other.hasMatcher
  if (one.path.replace(/\*$/, '') === other.path.replace(/\*$/, '')) return one.path.length < other.path.length
  return one.path.length > other.path.length
}

/**
 * Sorts a list by insertion, as Go does for up to 20 items. The comparison is not transitive, so the result depends on
 * the method.
 */
function stableInsertionSort<Item>(list: readonly Item[], isBefore: (one: Item, other: Item) => boolean): Item[] {
  const sorted = [...list]
  for (let index = 1; index < sorted.length; index++) {
    for (let at = index; at > 0; at--) {
      const [one, other] = [sorted[at], sorted[at - 1]]
      if (one === undefined || other === undefined || !isBefore(one, other)) break
      sorted[at] = other
      sorted[at - 1] = one
    }
  }
  return sorted
}
