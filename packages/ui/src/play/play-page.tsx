import { Tabs } from '@mantine/core'
import type { BackendsView, RoutesView } from '@portico/gateway/admin-config'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { backendsQuery, routesQuery } from '../api/queries.ts'
import { Failed, Loading } from '../parts/states.tsx'
import { routeTitle } from '../format/print-match.ts'
import { type PlayTarget, playTargets } from './targets.ts'
import './play.css'

/** The data of a playground. */
export interface PlayParts {
  readonly targets: readonly PlayTarget[]
  readonly open: PlayTarget
  readonly routes: RoutesView
  readonly backends: BackendsView
  /** When the backends were read, in milliseconds since 1970. */
  readonly now: number
}

interface PlayPageProps {
  kind: 'ai' | 'mcp'
  /** The name of the page. */
  what: string
  /** Key of the route to open; the first route when undefined. */
  chosen: string | undefined
  none: ReactNode
  children: (parts: PlayParts) => ReactNode
}

/** A page about routes that lead to models or to tools. */
export function PlayPage({ kind, what, chosen, none, children }: PlayPageProps) {
  const routes = useQuery(routesQuery)
  const backends = useQuery(backendsQuery)
  const failed = [routes, backends].find(({ error, data }) => error !== null && data === undefined)
  if (failed?.error != null) return <Failed what={what} error={failed.error} onRetry={() => void failed.refetch()} />
  if (routes.data === undefined || backends.data === undefined) return <Loading what={what.toLowerCase()} />
  const targets = playTargets(routes.data, backends.data, kind)
  const open = targets.find(({ route }) => route.key === chosen) ?? targets[0]
  if (open === undefined) return none
  return children({ targets, open, routes: routes.data, backends: backends.data, now: backends.dataUpdatedAt })
}

interface TargetListProps {
  to: '/models' | '/tools'
  title: string
  label: string
  targets: readonly PlayTarget[]
  open: PlayTarget
  factsOf: (target: PlayTarget) => ReactNode
  children: ReactNode
}

/** The routes beside a playground, and the details of the open one. */
export function TargetList({ to, title, label, targets, open, factsOf, children }: TargetListProps) {
  return (
    <nav className="play-list" aria-label={label}>
      <h1>{title}</h1>
      <ul className="play-pick">
        {targets.map((target) => (
          <li key={target.route.key}>
            <Link to={to} search={{ route: target.route.key }} aria-current={target === open ? 'true' : undefined}>
              <p className="mono">{routeTitle(target.route)}</p>
              <p className="dim mono">
                :{target.bind.port}
                {target.path}
              </p>
              {factsOf(target)}
            </Link>
          </li>
        ))}
      </ul>
      {children}
    </nav>
  )
}

interface PlayTabsProps {
  /** The title of the first tab. */
  title: string
  tab: 'clients' | undefined
  onTab: (tab: 'clients' | undefined) => void
  play: ReactNode
  clients: ReactNode
}

/** Two tabs: the playground, and the setup of clients. */
export function PlayTabs({ title, tab, onTab, play, clients }: PlayTabsProps) {
  return (
    <Tabs
      className="play-main"
      keepMounted
      value={tab ?? 'play'}
      onChange={(next) => onTab(next === 'clients' ? 'clients' : undefined)}
    >
      <Tabs.List>
        <Tabs.Tab value="play">{title}</Tabs.Tab>
        <Tabs.Tab value="clients">Clients</Tabs.Tab>
      </Tabs.List>
      <Tabs.Panel value="play" className="play-panel">
        {play}
      </Tabs.Panel>
      <Tabs.Panel value="clients" className="play-panel play-clients">
        {clients}
      </Tabs.Panel>
    </Tabs>
  )
}
