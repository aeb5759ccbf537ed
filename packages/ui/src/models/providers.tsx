import type { UsageRow } from '@portico/gateway/admin-api'
import type { ViewedPart } from '@portico/gateway/admin-config'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { usageQuery } from '../api/queries.ts'
import { formatCount } from '../format/numbers.ts'
import { EndpointHealth } from '../parts/health.tsx'
import type { PlayTarget } from '../play/targets.ts'
import { costText, sumCosts } from '../prices/cost.ts'
import { PRICE_TABLE } from '../prices/table-date.ts'
import { usePrices } from '../prices/use-prices.ts'
import { printFilter } from '../requests/filter.ts'

/** The providers in failover order, with their health, tokens and cost. */
export function Providers({ target: { backend, route }, now }: { target: PlayTarget; now: number }) {
  const { data } = useQuery(usageQuery('24h'))
  const rows = (data?.rows ?? []).filter((row) => row.backend === backend.key && row.route === route.name)
  return (
    <section className="providers" aria-label="Providers in the order of failover">
      <h2>{backend.groups.length > 1 ? 'Providers, in order' : 'Providers'}</h2>
      <ol>
        {backend.groups.map((group, index) => (
          <li key={index}>
            {backend.groups.length > 1 && <p className="dim">{index === 0 ? 'First' : 'Fallback'}</p>}
            {group.map((part) => (
              <Provider
                key={part.name}
                part={part}
                isAsked={index === backend.activeGroup}
                rows={rows.filter(({ providerName }) => providerName === part.name)}
                now={now}
              />
            ))}
          </li>
        ))}
      </ol>
      <p>
        <Link to="/requests" search={{ q: printFilter([{ name: 'route', value: route.name }]) }}>
          Requests of this route
        </Link>
      </p>
    </section>
  )
}

interface ProviderProps {
  part: ViewedPart
  /** Whether its group gets the next request. */
  isAsked: boolean
  rows: readonly UsageRow[]
  now: number
}

function Provider({ part: { name, kind, at, health }, isAsked, rows, now }: ProviderProps) {
  const isOut = health?.state === 'evicted'
  return (
    <div className="provider">
      <p>
        <span className="mono">{name}</span> <span className="dim">{kind === name ? '' : kind}</span>{' '}
        <span className="mono dim">{at}</span>
      </p>
      {isAsked && !isOut && <p>● Receives requests</p>}
      {!isAsked && !isOut && <p className="dim">○ On standby</p>}
      {health !== null && (
        <p>
          <EndpointHealth endpoint={health} now={now} />
        </p>
      )}
      {rows.length > 0 && <Used rows={rows} at={at} now={now} />}
    </div>
  )
}

function Used({ rows, at, now }: { rows: readonly UsageRow[]; at: string; now: number }) {
  const { table } = usePrices(true)
  const tokens = rows.reduce((sum, { input, output }) => sum + input + output, 0)
  const cost = table === null ? null : sumCosts(rows.map((row) => table.priceRow(row, at, now)))
  return (
    <p className="dim" title={`An estimate, by prices of ${PRICE_TABLE.date}`}>
      24 h: {formatCount(tokens)} tokens
      {cost !== null && `, ${cost.dollars === null ? 'cost unknown' : costText(cost)}`}
    </p>
  )
}
