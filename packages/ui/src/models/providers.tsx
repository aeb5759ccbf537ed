import { Link } from '@tanstack/react-router'
import type { PlayTarget } from '../play/targets.ts'
import { printFilter } from '../requests/filter.ts'

/** Who is asked, in the order of failover. */
export function Providers({ target: { backend, route } }: { target: PlayTarget }) {
  return (
    <section className="providers" aria-label="Providers in the order of failover">
      <h2>{backend.groups.length > 1 ? 'Providers, in order' : 'Providers'}</h2>
      <ol>
        {backend.groups.map((group, index) => (
          <li key={index}>
            {backend.groups.length > 1 && <p className="dim">{index === 0 ? 'first' : 'then, when those fail'}</p>}
            {group.map(({ name, kind, at }) => (
              <p key={name}>
                <span className="mono">{name}</span> <span className="dim">{kind === name ? '' : kind}</span>{' '}
                <span className="mono dim">{at}</span>
              </p>
            ))}
          </li>
        ))}
      </ol>
      <p>
        <Link to="/requests" search={{ q: printFilter([{ name: 'route', value: route.name }]) }}>
          its requests
        </Link>
      </p>
    </section>
  )
}
