import { Button, Tabs, TextInput } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { getRouteApi, Link } from '@tanstack/react-router'
import { useCallback, useRef, useState } from 'react'
import { backendsQuery, routesQuery } from '../api/queries.ts'
import { useKeys } from '../frame/use-keys.ts'
import { FIRST_TOOLS } from '../overview/first-configs.ts'
import { Copy } from '../parts/copy.tsx'
import { Empty, Failed, Loading } from '../parts/states.tsx'
import { toolClients } from '../play/clients.ts'
import { Credentials } from '../play/credentials.tsx'
import { Decided } from '../play/decided.tsx'
import type { Sent } from '../play/send.ts'
import { Snippets } from '../play/snippets.tsx'
import { addressOf, type PlayTarget, playTargets } from '../play/targets.ts'
import { useMcp } from '../play/use-mcp.ts'
import { routeTitle } from '../routes/print-match.ts'
import { ToolCall } from './tool-call.tsx'
import { ToolList } from './tool-list.tsx'
import './tools.css'

const page = getRouteApi('/tools')

/** MCP servers with their tools, a form for each, and what was decided about each call. */
export function ToolsPage() {
  const routes = useQuery(routesQuery)
  const backends = useQuery(backendsQuery)
  const { route: chosen } = page.useSearch()
  const failed = [routes, backends].find(({ error, data }) => error !== null && data === undefined)
  if (failed?.error != null) return <Failed what="Tools" error={failed.error} onRetry={() => void failed.refetch()} />
  if (routes.data === undefined || backends.data === undefined) return <Loading what="tools" />
  const targets = playTargets(routes.data, backends.data, 'mcp')
  const open = targets.find(({ route }) => route.key === chosen) ?? targets[0]
  if (open === undefined) return <NoTools />
  return <Servers key={open.route.key} targets={targets} open={open} />
}

function Servers({ targets, open }: { targets: readonly PlayTarget[]; open: PlayTarget }) {
  const { tool: chosen, tab = 'call' } = page.useSearch()
  const navigate = page.useNavigate()
  const [headersText, setHeadersText] = useState('')
  const [requests, setRequests] = useState<readonly Sent[]>([])
  const [filter, setFilter] = useState('')
  const filterInput = useRef<HTMLInputElement>(null)
  const onSent = useCallback((sent: Sent) => setRequests((before) => [...before, sent]), [])
  const { session, tools } = useMcp(open, headersText, onSent)
  const listed = (tools.data?.tools ?? []).filter(({ name }) => name.toLowerCase().includes(filter.toLowerCase()))
  const tool = tools.data?.tools.find(({ name }) => name === chosen) ?? tools.data?.tools[0]
  const move = (step: number): void => {
    const at = listed.findIndex(({ name }) => name === tool?.name)
    const next = listed[Math.min(Math.max(at + step, 0), listed.length - 1)]
    if (next !== undefined) void navigate({ search: (before) => ({ ...before, tool: next.name }), replace: true })
  }
  useKeys({ j: () => move(1), k: () => move(-1), '/': () => filterInput.current?.focus() })
  return (
    <div className="tools">
      <nav className="tools-list" aria-label="Servers and tools">
        <h1>Tools</h1>
        <ul className="play-pick">
          {targets.map((target) => (
            <li key={target.route.key}>
              <Server target={target} isOpen={target === open} />
            </li>
          ))}
        </ul>
        <Credentials text={headersText} onChange={setHeadersText} />
        <div className="tools-filter">
          <TextInput
            ref={filterInput}
            size="xs"
            aria-label="Filter tools"
            placeholder="filter (/)"
            value={filter}
            onChange={(event) => setFilter(event.currentTarget.value)}
          />
          <Button size="xs" variant="default" onClick={() => void tools.refetch()}>
            List again
          </Button>
        </div>
        {tools.isFetching && <p role="status">listing tools …</p>}
        {tools.error !== null && (
          <p className="play-failed" role="alert">
            ▲ {tools.error.message}
          </p>
        )}
        {tools.data !== undefined && (
          <ToolList list={tools.data} shown={listed} open={tool?.name ?? null} route={open.route.key} />
        )}
      </nav>
      <Tabs
        className="tools-main"
        value={tab}
        onChange={(next) =>
          void navigate({
            search: ({ tab: _tab, ...rest }) => (next === 'clients' ? { ...rest, tab: 'clients' } : rest),
            replace: true,
          })
        }
      >
        <Tabs.List>
          <Tabs.Tab value="call">Call</Tabs.Tab>
          <Tabs.Tab value="clients">Clients</Tabs.Tab>
        </Tabs.List>
        <Tabs.Panel value="call" className="tools-panel">
          {tool !== undefined && session !== null && <ToolCall key={tool.name} tool={tool} session={session} />}
          {tool === undefined && (
            <p className="note tool">{tools.isFetching ? 'Asking for tools …' : 'No tool is open.'}</p>
          )}
        </Tabs.Panel>
        <Tabs.Panel value="clients" className="tools-panel tool">
          <Snippets snippets={toolClients(`${addressOf(open, location.hostname)}${open.path}`)} />
        </Tabs.Panel>
      </Tabs>
      <Decided requests={requests} />
    </div>
  )
}

function Server({ target, isOpen }: { target: PlayTarget; isOpen: boolean }) {
  const { route, backend, bind, path } = target
  return (
    <Link to="/tools" search={{ route: route.key }} aria-current={isOpen ? 'true' : undefined}>
      <p className="mono">{routeTitle(route)}</p>
      <p className="dim mono">
        :{bind.port}
        {path}
      </p>
      {backend.groups.flat().map(({ name, kind, at }) => (
        <p key={name} className="dim">
          <span className="mono">{name}</span> {kind} <span className="mono">{at}</span>
        </p>
      ))}
    </Link>
  )
}

function NoTools() {
  return (
    <Empty title="No route leads to tools">
      <p>
        This is an MCP server by its address; put it into the config file.{' '}
        <Copy text={FIRST_TOOLS} label="Copy the config" />
      </p>
      <pre className="mono">{FIRST_TOOLS}</pre>
    </Empty>
  )
}
