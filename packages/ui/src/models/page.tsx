import { Tabs } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { getRouteApi, Link } from '@tanstack/react-router'
import { backendsQuery, routesQuery } from '../api/queries.ts'
import { useKeys } from '../frame/use-keys.ts'
import { FIRST_MODELS } from '../overview/first-configs.ts'
import { Copy } from '../parts/copy.tsx'
import { Empty, Failed, Loading } from '../parts/states.tsx'
import { modelClients } from '../play/clients.ts'
import { Snippets } from '../play/snippets.tsx'
import { addressOf, type PlayTarget, playTargets } from '../play/targets.ts'
import { routeTitle } from '../routes/print-match.ts'
import './models.css'
import { Playground } from './playground.tsx'
import { Providers } from './providers.tsx'

const page = getRouteApi('/models')

/** Which providers answer on which route, a playground, and how clients are set up. */
export function ModelsPage() {
  const routes = useQuery(routesQuery)
  const backends = useQuery(backendsQuery)
  const { route: chosen, tab = 'playground', model = '' } = page.useSearch()
  const navigate = page.useNavigate()
  const isThere = routes.data !== undefined && backends.data !== undefined
  const targets = isThere ? playTargets(routes.data, backends.data, 'ai') : []
  const open = targets.find(({ route }) => route.key === chosen) ?? targets[0]
  const move = (step: number): void => {
    const next = targets[Math.min(Math.max(targets.findIndex((each) => each === open) + step, 0), targets.length - 1)]
    if (next !== undefined) void navigate({ search: (before) => ({ ...before, route: next.route.key }), replace: true })
  }
  useKeys({ j: () => move(1), k: () => move(-1) })
  const failed = [routes, backends].find(({ error, data }) => error !== null && data === undefined)
  if (failed?.error != null) return <Failed what="Models" error={failed.error} onRetry={() => void failed.refetch()} />
  if (!isThere) return <Loading what="models" />
  if (open === undefined) return <NoModels />
  const address = addressOf(open, location.hostname)
  return (
    <div className="models">
      <nav className="models-list" aria-label="Routes to models">
        <h1>Models</h1>
        <ul className="play-pick">
          {targets.map((target) => (
            <li key={target.route.key}>
              <Target target={target} isOpen={target === open} />
            </li>
          ))}
        </ul>
        <Providers target={open} />
      </nav>
      <Tabs
        className="models-main"
        keepMounted
        value={tab}
        onChange={(next) =>
          void navigate({
            search: ({ tab: _tab, ...rest }) => (next === 'clients' ? { ...rest, tab: 'clients' } : rest),
            replace: true,
          })
        }
      >
        <Tabs.List>
          <Tabs.Tab value="playground">Playground</Tabs.Tab>
          <Tabs.Tab value="clients">Clients</Tabs.Tab>
        </Tabs.List>
        <Tabs.Panel value="playground">
          <Playground key={open.route.key} target={open} toolTargets={playTargets(routes.data, backends.data, 'mcp')} />
        </Tabs.Panel>
        <Tabs.Panel value="clients" className="models-clients">
          <Snippets snippets={modelClients({ origin: address, path: open.path, model: model || 'gpt-6-luna' })} />
        </Tabs.Panel>
      </Tabs>
    </div>
  )
}

function Target({ target, isOpen }: { target: PlayTarget; isOpen: boolean }) {
  const { route, backend, bind } = target
  return (
    <Link to="/models" search={{ route: route.key }} aria-current={isOpen ? 'true' : undefined}>
      <p className="mono">{routeTitle(route)}</p>
      <p className="dim mono">
        :{bind.port}
        {target.path}
      </p>
      <p className="dim">
        {backend.groups.flat().length} {backend.groups.flat().length === 1 ? 'provider' : 'providers'}
      </p>
    </Link>
  )
}

function NoModels() {
  return (
    <Empty title="No route leads to models">
      <p>
        This is a chat, answered by a mock until you name a provider; put it into the config file.{' '}
        <Copy text={FIRST_MODELS} label="Copy the config" />
      </p>
      <pre className="mono">{FIRST_MODELS}</pre>
    </Empty>
  )
}
