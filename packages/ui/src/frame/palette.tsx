import { Modal, TextInput } from '@mantine/core'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { type KeyboardEvent, useState } from 'react'
import { backendsQuery, callsQuery, routesQuery } from '../api/queries.ts'
import type { ToolList } from '../play/mcp-session.ts'
import { playTargets } from '../play/targets.ts'
import { TOOLS_KEY } from '../play/tools-key.ts'
import { backendFilter } from '../requests/filter.ts'
import { routeTitle } from '../format/print-match.ts'
import { PAGES } from './pages.ts'
import { modelEntries, toolEntries } from './play-entries.ts'
import { findEntries, type PaletteEntry } from './palette-entries.ts'

interface PaletteProps {
  opened: boolean
  onClose: () => void
  onKeys: () => void
}

/** A search over all pages, routes, backends, models, tools and requests. */
export function Palette({ opened, onClose, onKeys }: PaletteProps) {
  return (
    <Modal
      opened={opened}
      onClose={onClose}
      withCloseButton={false}
      size="lg"
      padding={0}
      yOffset="10vh"
      attributes={{ content: { 'aria-label': 'Search' } }}
    >
      {opened && <Search onClose={onClose} onKeys={onKeys} />}
    </Modal>
  )
}

function Search({ onClose, onKeys }: Omit<PaletteProps, 'opened'>) {
  const [text, setText] = useState('')
  const [at, setAt] = useState(0)
  const entries = useEntries(onKeys)
  const found = findEntries(entries, text)
  const chosen = Math.min(at, found.length - 1)
  const navigate = useNavigate()
  const go = ({ action }: PaletteEntry): void => {
    onClose()
    if (action.kind === 'do') action.run()
    else if (action.kind === 'page') void navigate({ to: action.to })
    else if (action.kind === 'route') void navigate({ to: '/routes', search: { route: action.key } })
    else if (action.kind === 'model')
      void navigate({ to: '/models', search: { route: action.route, model: action.model } })
    else if (action.kind === 'tool') void navigate({ to: '/tools', search: { route: action.route, tool: action.tool } })
    else void navigate({ to: '/requests', search: action.search })
  }
  const onKeyDown = (event: KeyboardEvent): void => {
    const step = event.key === 'ArrowDown' ? 1 : event.key === 'ArrowUp' ? -1 : 0
    const entry = found[chosen]
    if (step !== 0) setAt(Math.min(Math.max(chosen + step, 0), found.length - 1))
    else if (event.key === 'Enter' && entry !== undefined) go(entry)
    else return
    event.preventDefault()
  }
  return (
    <div className="palette">
      <TextInput
        data-autofocus
        variant="unstyled"
        aria-label="Go to"
        placeholder="Go to a page, a route, a backend, a model, a tool, a request id …"
        role="combobox"
        aria-expanded="true"
        aria-controls="palette-list"
        aria-activedescendant={found.length === 0 ? undefined : `palette-${chosen}`}
        value={text}
        onChange={(event) => {
          setText(event.currentTarget.value)
          setAt(0)
        }}
        onKeyDown={onKeyDown}
      />
      <ul id="palette-list" role="listbox" aria-label="Results">
        {found.map((entry, index) => (
          <li
            key={`${entry.kind} ${entry.name} ${entry.where ?? ''}`}
            id={`palette-${index}`}
            role="option"
            aria-selected={index === chosen}
            onPointerMove={() => setAt(index)}
            onClick={() => go(entry)}
          >
            <span className="dim">{entry.kind}</span> <span className={entry.isMono ? 'mono' : ''}>{entry.name}</span>
            {entry.where !== undefined && <span className="dim"> {entry.where}</span>}
          </li>
        ))}
      </ul>
      {found.length === 0 && <p className="palette-none dim">No match.</p>}
    </div>
  )
}

function useEntries(onKeys: () => void): PaletteEntry[] {
  const { data: routes } = useQuery(routesQuery)
  const { data: backends } = useQuery(backendsQuery)
  const { data: calls } = useQuery(callsQuery)
  const lists = useQueryClient().getQueriesData<ToolList>({ queryKey: [TOOLS_KEY] })
  const listed = routes?.binds.flatMap((bind) => bind.listeners.flatMap((listener) => listener.routes)) ?? []
  const isThere = routes !== undefined && backends !== undefined
  return [
    ...PAGES.map(({ to, name }) => ({ kind: 'page', name, isMono: false, action: { kind: 'page', to } as const })),
    ...listed.map((route) => ({
      kind: 'route',
      name: routeTitle(route),
      isMono: true,
      action: { kind: 'route', key: route.key } as const,
    })),
    ...(backends?.backends ?? []).map(({ name, key }) => ({
      kind: 'backend',
      name: name === '' ? key : name,
      isMono: true,
      action: { kind: 'requests', search: { q: backendFilter(name) } } as const,
    })),
    ...(isThere ? modelEntries(playTargets(routes, backends, 'ai'), calls?.requests ?? []) : []),
    ...(isThere ? toolEntries(playTargets(routes, backends, 'mcp'), calls?.requests ?? [], lists) : []),
    { kind: 'help', name: 'Keys', isMono: false, action: { kind: 'do', run: onKeys } },
  ]
}
