import { useQuery } from '@tanstack/react-query'
import { stateQuery } from './queries.ts'

/** The reason why this session may change nothing and send no requests; null when it may. The frame reads the state. */
export function useReadOnlyReason(): string | null {
  const { data } = useQuery({ ...stateQuery, enabled: false })
  if (data === undefined || data.access.scope === 'Write') return null
  const { token } = data.access
  return `Read-only: ${token === null ? 'this session' : `the token ${token}`} has the scope Read`
}
