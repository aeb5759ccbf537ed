/** Options that filter requests; each is a parameter of the admin API of the same name. */
export const filterOptions = {
  since: { kind: 'value', value: '<time>', summary: 'not older than: 15m, 2h, or a timestamp' },
  until: { kind: 'value', value: '<time>', summary: 'not newer than this time' },
  id: { kind: 'value', value: '<id>', summary: 'with this id or x-request-id' },
  status: { kind: 'value', value: '<codes>', summary: 'with this status: 429, 4xx, >=500' },
  outcome: { kind: 'value', value: '<names>', summary: 'passed, denied, limited, failed, evicted, aborted, slow' },
  route: { kind: 'value', value: '<name>', summary: 'of this route' },
  policy: { kind: 'value', value: '<name>', summary: 'decided by this policy' },
  key: { kind: 'value', value: '<name>', summary: 'of this API key, user or subject' },
  model: { kind: 'value', value: '<name>', summary: 'for this model' },
  tool: { kind: 'value', value: '<name>', summary: 'for this MCP tool' },
  shadow: { kind: 'value', value: '<names>', summary: 'for which a shadow policy had this outcome: denied' },
  expression: {
    kind: 'value',
    value: '<CEL>',
    summary: 'for which this CEL expression is true (variables of access logs)',
  },
} as const

export type FilterValues = { readonly [Name in keyof typeof filterOptions]: string | null }

export function queryOf(filters: FilterValues, more: Readonly<Record<string, string>> = {}): string {
  const query = new URLSearchParams(more)
  for (const name of Object.keys(filterOptions) as (keyof FilterValues)[]) {
    const value = filters[name]
    if (value !== null) query.set(name, value)
  }
  return query.size === 0 ? '' : `?${query.toString()}`
}
