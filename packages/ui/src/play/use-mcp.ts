import { useQuery, type UseQueryResult } from '@tanstack/react-query'
import { useEffect, useMemo } from 'react'
import { readHeaders } from './headers-text.ts'
import { McpSession, type ToolList } from './mcp-session.ts'
import { send, type SentRequest } from './send.ts'
import { callTo, type PlayTarget } from './targets.ts'
import { TOOLS_KEY, toolsKey } from './tools-key.ts'

export interface Mcp {
  session: McpSession | null
  tools: UseQueryResult<ToolList>
}

/** A session with the MCP servers of a route, and their tools. The session ends with the page; without a route there is none. */
export function useMcp(target: PlayTarget | null, headersText: string, onSent: (sent: SentRequest) => void): Mcp {
  const key = target === null ? null : `${target.route.key} ${target.path} ${headersText}`
  const session = useMemo(() => {
    if (target === null) return null
    const { headers = [], ...call } = callTo(target)
    const own = readHeaders(headersText)
    const all = [...headers, ...(typeof own === 'string' ? [] : own)]
    return new McpSession(send, { ...call, path: target.path, headers: all }, onSent)
    // The target is made anew with each answer of the admin API: its key says whether it is another.
    // eslint-disable-next-line react-hooks/exhaustive-deps
  }, [key, onSent])
  useEffect(() => () => void session?.end().catch(() => {}), [session])
  const tools = useQuery({
    queryKey: target === null ? [TOOLS_KEY] : toolsKey(target.route.key, target.path, headersText),
    queryFn: ({ signal }) => (session === null ? { tools: [], hidden: [] } : session.listTools(signal)),
    enabled: session !== null,
    // Each list is a request through the gateway.
    staleTime: Infinity,
    refetchOnWindowFocus: false,
  })
  return { session, tools }
}
