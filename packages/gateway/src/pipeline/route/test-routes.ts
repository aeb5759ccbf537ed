import type { Route, RouteMatch, ValueMatch } from '../../ir/resources.ts'
import type { RoutableRequest } from './request.ts'

/** Short ways to write routes and requests in tests. */
export interface RequestParts {
  method?: string
  host?: string
  authority?: string
  scheme?: string
  path?: string
  query?: string
  headers?: [name: string, value: string][]
}

export function makeRequest(parts: RequestParts): RoutableRequest {
  const headers = parts.headers ?? []
  return {
    method: 'GET',
    host: 'host',
    authority: 'host:80',
    scheme: 'http',
    path: '/',
    query: '',
    ...parts,
    header: (name, occurrence) => headers.filter((line) => line[0] === name)[occurrence]?.[1],
  }
}

export function makeRoute(index: number, parts: Partial<Route>): Route {
  const base = { key: `r${index}`, listener: 'l', name: `r${index}`, rule: '', labels: {} }
  return { ...base, hostnames: [], backends: [], matches: [matchOf({})], ...parts }
}

export function matchOf(parts: Partial<RouteMatch>): RouteMatch {
  return { path: prefix('/'), method: null, headers: [], query: [], ...parts }
}

export function exact(value: string): RouteMatch['path'] {
  return { kind: 'exact', value }
}

export function prefix(value: string): RouteMatch['path'] {
  return { kind: 'pathPrefix', value }
}

export function regex(value: string): RouteMatch['path'] {
  return { kind: 'regex', value }
}

export function is(name: string, value: string): ValueMatch {
  return { name, kind: 'exact', value }
}

export function like(name: string, value: string): ValueMatch {
  return { name, kind: 'regex', value }
}
