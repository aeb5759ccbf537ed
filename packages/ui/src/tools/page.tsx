import { Button, TextInput } from '@mantine/core'
import { getRouteApi } from '@tanstack/react-router'
import { useCallback, useRef, useState } from 'react'
import { useKeys } from '../parts/use-keys.ts'
import { FIRST_TOOLS } from '../overview/first-configs.ts'
import { Copy } from '../parts/copy.tsx'
import { TargetError } from '../parts/health.tsx'
import { Empty } from '../parts/states.tsx'
import { toolClients } from '../play/clients.ts'
import { Credentials } from '../play/credentials.tsx'
import { DecisionList } from '../play/decision-list.tsx'
import type { McpTool } from '../play/mcp-session.ts'
import { PlayPage, type PlayParts, PlayTabs, TargetList } from '../play/play-page.tsx'
import type { SentRequest } from '../play/send.ts'
import { Snippets } from '../play/snippets.tsx'
import { addressOf, type PlayTarget } from '../play/targets.ts'
import { type Mcp, useMcp } from '../play/use-mcp.ts'
import { findTool } from './find-tool.ts'
import { ToolCall } from './tool-call.tsx'
import { ToolList } from './tool-list.tsx'
import './tools.css'

const page = getRouteApi('/tools')

/** MCP servers with their tools, a form for each tool, and the decisions about each call. */
export function ToolsPage() {
  const { route } = page.useSearch()
  return (
    <PlayPage kind="mcp" what="Tools" chosen={route} none={<NoTools />}>
      {(parts) => <Servers key={parts.open.route.key} parts={parts} />}
    </PlayPage>
  )
}

function Servers({ parts: { targets, open, now } }: { parts: PlayParts }) {
  const { tool: chosen, tab } = page.useSearch()
  const navigate = page.useNavigate()
  const [headersText, setHeadersText] = useState('')
  const [requests, setRequests] = useState<readonly SentRequest[]>([])
  const onSent = useCallback((sent: SentRequest) => setRequests((before) => [...before, sent]), [])
  const { session, tools } = useMcp(open, headersText, onSent)
  const tool = findTool(tools.data?.tools ?? [], chosen)
  return (
    <div className="play tools">
      <TargetList to="/tools" title="Tools" label="Servers and tools" targets={targets} open={open} factsOf={serversOf}>
        <LastErrors target={open} now={now} />
        <Credentials text={headersText} onChange={setHeadersText} />
        <Offered tools={tools} tool={tool} route={open.route.key} />
      </TargetList>
      <PlayTabs
        title="Call"
        tab={tab}
        onTab={(next) =>
          void navigate({
            search: ({ tab: _tab, ...rest }) => (next === undefined ? rest : { ...rest, tab: next }),
            replace: true,
          })
        }
        play={
          tool !== undefined && session !== null ? (
            <ToolCall key={tool.name} tool={tool} session={session} />
          ) : (
            <p className="note tool">{whyNone(tools, chosen)}</p>
          )
        }
        clients={<Snippets snippets={toolClients(`${addressOf(open, location.hostname)}${open.path}`)} />}
      />
      <DecisionList requests={requests} />
    </div>
  )
}

function whyNone({ isFetching, data }: Mcp['tools'], chosen: string | undefined): string {
  if (isFetching) return 'Listing tools …'
  return data === undefined || chosen === undefined ? 'No tool is open.' : `${chosen} is not offered to this caller.`
}

/** The tools of the open route, with a filter and keys to walk through them. */
function Offered({ tools, tool, route }: { tools: Mcp['tools']; tool: McpTool | undefined; route: string }) {
  const navigate = page.useNavigate()
  const [filter, setFilter] = useState('')
  const filterInput = useRef<HTMLInputElement>(null)
  const listed = (tools.data?.tools ?? []).filter(({ name }) => name.toLowerCase().includes(filter.toLowerCase()))
  const move = (step: number): void => {
    const at = listed.findIndex(({ name }) => name === tool?.name)
    const next = listed[Math.min(Math.max(at + step, 0), listed.length - 1)]
    if (next !== undefined) void navigate({ search: (before) => ({ ...before, tool: next.name }), replace: true })
  }
  useKeys({ j: () => move(1), k: () => move(-1), '/': () => filterInput.current?.focus() })
  return (
    <>
      <div className="tools-filter">
        <TextInput
          ref={filterInput}
          size="xs"
          aria-label="Filter tools"
          placeholder="Filter (/)"
          value={filter}
          onChange={(event) => setFilter(event.currentTarget.value)}
        />
        <Button size="xs" variant="default" onClick={() => void tools.refetch()}>
          List again
        </Button>
      </div>
      {tools.isFetching && <p role="status">Listing tools …</p>}
      {tools.error !== null && (
        <p className="play-failed" role="alert">
          ▲ {tools.error.message}
        </p>
      )}
      {tools.data !== undefined && (
        <ToolList list={tools.data} shown={listed} open={tool?.name ?? null} route={route} />
      )}
    </>
  )
}

function serversOf({ backend }: PlayTarget) {
  return backend.groups.flat().map(({ name, kind, at }) => (
    <p key={name} className="dim">
      <span className="mono">{name}</span> {kind} <span className="mono">{at}</span>
    </p>
  ))
}

/** The last error of each MCP server of a route. */
function LastErrors({ target: { backend }, now }: { target: PlayTarget; now: number }) {
  const failed = backend.groups.flat().filter(({ lastError }) => lastError !== null)
  if (failed.length === 0) return null
  return (
    <ul className="play-errors" aria-label="Last errors">
      {failed.map(({ name, lastError }) => (
        <li key={name}>
          ▲ <span className="mono">{name}</span> {lastError !== null && <TargetError error={lastError} now={now} />}
        </li>
      ))}
    </ul>
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
