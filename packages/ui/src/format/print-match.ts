import type { ViewedMatch, ViewedRoute } from '@portico/gateway/admin-config'

/** `GET /api… ?a=b x-tenant: ~acme.*`: a prefix ends with dots, a pattern begins with a tilde. */
export function printMatch({ path, method, headers, query }: ViewedMatch): string {
  const paths = { exact: path.value, pathPrefix: `${path.value}…`, regex: `~${path.value}` }
  const value = (kind: 'exact' | 'regex', text: string): string => (kind === 'exact' ? text : `~${text}`)
  return [
    method ?? '',
    paths[path.kind],
    ...query.map((each) => `?${each.name}=${value(each.kind, each.value)}`),
    ...headers.map((each) => `${each.name}: ${value(each.kind, each.value)}`),
  ]
    .filter((part) => part !== '')
    .join(' ')
}

export function routeTitle({ name, rule, key }: ViewedRoute): string {
  if (name === '') return key
  return rule === '' ? name : `${name}/${rule}`
}
