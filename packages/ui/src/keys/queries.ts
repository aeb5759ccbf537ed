import type { AuditView, KeyListView, KeyView, TeamListView } from '@portico/gateway/admin-api'
import { keepPreviousData, queryOptions, type QueryClient } from '@tanstack/react-query'
import { getJson } from '../api/client.ts'
import { listRequests } from '../api/queries.ts'
import type { KeysSearch } from './search.ts'

/** A page of keys. A search that found nothing among the first keys goes on with the others. */
export const keysQuery = ({ text, state, team, after }: KeysSearch) =>
  queryOptions({
    queryKey: ['keys', 'list', text, state, team, after],
    queryFn: async ({ signal }) => {
      const query = new URLSearchParams({ limit: String(PAGE), ...withoutUnset({ text, state, team, after }) })
      let page = await getJson<KeyListView>(`/api/keys?${query.toString()}`, signal)
      while (page.keys.length === 0 && page.next !== null) {
        query.set('after', page.next)
        page = await getJson<KeyListView>(`/api/keys?${query.toString()}`, signal)
      }
      return page
    },
    refetchInterval: 10_000,
    placeholderData: keepPreviousData,
  })

export const keyQuery = (name: string) =>
  queryOptions({
    queryKey: ['keys', 'one', name],
    queryFn: ({ signal }) => getJson<KeyView>(`/api/keys/${encodeURIComponent(name)}`, signal),
    refetchInterval: 10_000,
    retry: false,
  })

export const teamsQuery = queryOptions({
  queryKey: ['keys', 'teams'],
  queryFn: ({ signal }) => getJson<TeamListView>('/api/teams', signal),
  refetchInterval: 10_000,
})

/** A page of changes, of all keys and teams or of one key. */
export const changesQuery = ({ key, before }: KeysSearch) =>
  queryOptions({
    queryKey: ['keys', 'changes', key, before],
    queryFn: async ({ signal }) => {
      const query = new URLSearchParams({ limit: String(PAGE) })
      if (key !== undefined)
        for (const [name, value] of Object.entries({ kind: 'key', name: key })) query.set(name, value)
      if (before !== undefined) query.set('before', String(before))
      let page = await getJson<AuditView>(`/api/audit?${query.toString()}`, signal)
      while (page.entries.length === 0 && page.next !== null) {
        query.set('before', String(page.next))
        page = await getJson<AuditView>(`/api/audit?${query.toString()}`, signal)
      }
      return page
    },
    refetchInterval: 10_000,
    placeholderData: keepPreviousData,
  })

/** The latest recorded request with a key. */
export const lastRequestQuery = (name: string) =>
  queryOptions({
    queryKey: ['keys', 'last', name],
    queryFn: ({ signal }) => listRequests(new URLSearchParams({ key: name, limit: '1' }), signal),
    refetchInterval: 10_000,
  })

/** Reads everything that the page shows again, after a change. */
export function rereadKeys(queries: QueryClient): Promise<void> {
  return queries.invalidateQueries({ queryKey: ['keys'] })
}

function withoutUnset(values: Readonly<Record<string, string | undefined>>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(values).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])),
  )
}

const PAGE = 100
