import type { HeldPolicy, RoutesView, ViewedListener, ViewedRoute } from '@portico/gateway/admin-config'
import { useQuery } from '@tanstack/react-query'
import { getRouteApi, Link } from '@tanstack/react-router'
import { routesQuery } from '../api/queries.ts'
import { Empty, Failed, Loading } from '../parts/states.tsx'
import { printFilter } from '../requests/filter.ts'
import { useKeys } from '../parts/use-keys.ts'
import { printMatch, routeTitle } from '../format/print-match.ts'
import { TryMatch } from './try-match.tsx'
import './routes.css'

const page = getRouteApi('/routes')

/** Routes by listener, and the matches, backends and policies of one. */
export function RoutesPage() {
  const { data, error, refetch } = useQuery(routesQuery)
  const { route: chosen } = page.useSearch()
  const navigate = page.useNavigate()
  const all = data === undefined ? [] : routesOf(data)
  const open = all.find(({ route }) => route.key === chosen) ?? all[0]
  const move = (step: number): void => {
    const at = all.findIndex((entry) => entry === open)
    const next = all[Math.min(Math.max(at + step, 0), all.length - 1)]
    if (next !== undefined) void navigate({ search: (before) => ({ ...before, route: next.route.key }), replace: true })
  }
  useKeys({ j: () => move(1), k: () => move(-1), ArrowDown: () => move(1), ArrowUp: () => move(-1) })
  if (data === undefined && error !== null) return <Failed what="Routes" error={error} onRetry={() => void refetch()} />
  if (data === undefined) return <Loading what="routes" />
  if (open === undefined) return <Empty title="No routes">The live config has no routes.</Empty>
  return (
    <div className="routes">
      <h1 className="visually-hidden">Routes</h1>
      <TryMatch generation={data.generation} />
      <Tree view={data} chosen={open.route.key} />
      <RouteDetail listener={open.listener} route={open.route} frontend={data.frontend} />
    </div>
  )
}

interface ListedRoute {
  listener: ViewedListener
  route: ViewedRoute
}

function routesOf({ binds }: RoutesView): ListedRoute[] {
  return binds.flatMap(({ listeners }) =>
    listeners.flatMap((listener) => listener.routes.map((route) => ({ listener, route }))),
  )
}

function Tree({ view, chosen }: { view: RoutesView; chosen: string }) {
  return (
    <nav className="tree" aria-label="Routes by listener">
      {view.binds.map((bind) => (
        <section key={bind.key}>
          <h2 className="mono">
            {bind.address === '' ? '*' : bind.address}:{bind.port}
          </h2>
          {bind.listeners.map((listener) => (
            <div key={listener.key} className="tree-listener">
              <p>
                <span className="mono">{listener.name}</span>{' '}
                <span className="dim">
                  {listener.protocol} {listener.hostname}
                </span>
              </p>
              <ul>
                {listener.routes.map((route) => (
                  <li key={route.key}>
                    <Link
                      to="/routes"
                      search={(before) => ({ ...before, route: route.key })}
                      aria-current={route.key === chosen ? 'true' : undefined}
                      className={route.key === chosen ? 'tree-route chosen' : 'tree-route'}
                    >
                      <span className="mono">{routeTitle(route)}</span>
                      <span className="mono dim">{route.matches.map(printMatch).join(', ')}</span>
                    </Link>
                  </li>
                ))}
              </ul>
            </div>
          ))}
        </section>
      ))}
    </nav>
  )
}

function RouteDetail({ listener, route, frontend }: ListedRoute & { frontend: readonly HeldPolicy[] }) {
  // A route of one rule was written without rules.
  const words = route.rule === '' ? { ...WORDS, rule: WORDS.route } : WORDS
  return (
    <article className="route-detail">
      <h2>
        <span className="mono">{routeTitle(route)}</span>{' '}
        <Link to="/requests" search={{ q: printFilter([{ name: 'route', value: route.name }]) }}>
          Requests of this route
        </Link>
      </h2>
      <dl className="facts">
        <dt>Hosts</dt>
        <dd className="mono">
          {route.hostnames.length === 0 ? listener.hostname || 'every host' : route.hostnames.join(', ')}
        </dd>
        <dt>Matches</dt>
        <dd>
          {route.matches.length === 0 ? (
            <span className="dim">every connection</span>
          ) : (
            route.matches.map((match, index) => (
              <div key={index} className="mono">
                {printMatch(match)}
              </div>
            ))
          )}
        </dd>
        <dt>Backends</dt>
        <dd>
          {route.backends.length === 0 && <span className="dim">no backend</span>}
          {route.backends.map(({ backend, name, weight }) => (
            <div key={backend} className="mono">
              {name === '' ? backend : name}
              {route.backends.length > 1 && <span className="dim"> weight {weight}</span>}
            </div>
          ))}
        </dd>
      </dl>
      <Policies title="Policies, in order of execution" words={words} policies={route.policies} />
      <Policies title="Before routing" words={words} policies={listener.policies} />
      {route.backends.map(({ backend, name, policies }) => (
        <Policies key={backend} title={`On the backend ${name}`} words={words} policies={policies} />
      ))}
      <Policies title="On every request and connection" words={words} policies={frontend} />
    </article>
  )
}

interface PoliciesProps {
  title: string
  words: typeof WORDS
  policies: readonly HeldPolicy[]
}

function Policies({ title, words, policies }: PoliciesProps) {
  if (policies.length === 0) return null
  return (
    <section className="policies">
      <h3>{title}</h3>
      {policies.map(({ name, configs, from, others, isJoined }) => (
        <details key={name}>
          <summary>
            <span className="mono policy-name">{name}</span>
            <span className="dim">
              from {words[from.on]}
              {others.length > 0 &&
                (isJoined
                  ? `, together with ${others.map(({ on }) => words[on]).join(', ')}`
                  : `, overrides ${others.map(({ on }) => words[on]).join(', ')}`)}
            </span>
          </summary>
          <pre className="mono">{configs.map((config) => JSON.stringify(config, null, 2)).join('\n')}</pre>
          <p className="dim mono">{from.key}</p>
        </details>
      ))}
    </section>
  )
}

const WORDS: Readonly<Record<HeldPolicy['from']['on'], string>> = {
  gateway: 'the gateway',
  bind: 'the port',
  listenerSet: 'the listener set',
  listener: 'the listener',
  route: 'the route',
  rule: 'the rule',
  backend: 'the backend',
}
