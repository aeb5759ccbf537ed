import { getRouteApi } from '@tanstack/react-router'
import { useKeys } from '../parts/use-keys.ts'
import { FIRST_MODELS } from '../overview/first-configs.ts'
import { Copy } from '../parts/copy.tsx'
import { Empty } from '../parts/states.tsx'
import { modelClients } from '../play/clients.ts'
import { PlayPage, type PlayParts, PlayTabs, TargetList } from '../play/play-page.tsx'
import { Snippets } from '../play/snippets.tsx'
import { addressOf, type PlayTarget, playTargets } from '../play/targets.ts'
import './models.css'
import { Playground } from './playground.tsx'
import { Providers } from './providers.tsx'

const page = getRouteApi('/models')

/** Routes to models with their providers, a playground, and the setup of clients. */
export function ModelsPage() {
  const { route } = page.useSearch()
  return (
    <PlayPage kind="ai" what="Models" chosen={route} none={<NoModels />}>
      {(parts) => <Models parts={parts} />}
    </PlayPage>
  )
}

function Models({ parts: { targets, open, routes, backends, now } }: { parts: PlayParts }) {
  const { tab, model = '' } = page.useSearch()
  const navigate = page.useNavigate()
  const move = (step: number): void => {
    const next = targets[Math.min(Math.max(targets.indexOf(open) + step, 0), targets.length - 1)]
    if (next !== undefined) void navigate({ search: (before) => ({ ...before, route: next.route.key }), replace: true })
  }
  useKeys({ j: () => move(1), k: () => move(-1) })
  const address = addressOf(open, location.hostname)
  return (
    <div className="play models">
      <TargetList
        to="/models"
        title="Models"
        label="Routes to models"
        targets={targets}
        open={open}
        factsOf={providersOf}
      >
        <Providers target={open} now={now} />
      </TargetList>
      <PlayTabs
        title="Playground"
        tab={tab}
        onTab={(next) =>
          void navigate({
            search: ({ tab: _tab, ...rest }) => (next === undefined ? rest : { ...rest, tab: next }),
            replace: true,
          })
        }
        play={<Playground key={open.route.key} target={open} toolTargets={playTargets(routes, backends, 'mcp')} />}
        clients={
          <Snippets snippets={modelClients({ origin: address, path: open.path, model: model || 'gpt-6-luna' })} />
        }
      />
    </div>
  )
}

function providersOf({ backend }: PlayTarget) {
  const { length } = backend.groups.flat()
  return (
    <p className="dim">
      {length} {length === 1 ? 'provider' : 'providers'}
    </p>
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
